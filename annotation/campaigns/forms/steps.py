"""The steps of a design. Each sets some fields of the draft and shows the services' errors about them."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, ClassVar, NamedTuple

from django import forms

from annotation.campaigns.design.scale_words import described_points, follows, scale_section
from annotation.campaigns.fields.table import AT_END, CAMPAIGN, LEASE, PER_RATER, RATERS, SCREEN, WHAT, WORDS
from annotation.campaigns.forms.criteria import CriterionForm
from annotation.campaigns.forms.fields import form_field, words
from annotation.campaigns.forms.writing import WritingForm
from annotation.campaigns.presentations import COMPARING
from annotation.campaigns.services.criteria import MAX_CRITERIA
from annotation.campaigns.services.sizes import presentation_sizes
from annotation.core.forms import RefusableForm, offer_choices, offer_rows
from annotation.core.markdown import markdown
from annotation.datasets.selectors.datasets import reference_choices, splits_of
from annotation.models import Campaign, Dataset, System, Target

WORK_SETTINGS = ("ratings_per_unit", "max_units_per_rater")  # on which the amount of work depends
SEPARATOR = "\x1f"  # between the names of a pair, which may hold anything that people type


class Section(NamedTuple):
    """A heading, its texts of several lines and its other fields; ``now`` says what is set, if it begins folded."""

    title: str
    wide: list[forms.BoundField]
    narrow: list[forms.BoundField]
    now: str
    has_errors: bool


class Step(RefusableForm):
    """Base of the steps. A step sets the fields of the table that name it.

    Its class declares those whose choices or position are special; the others are shown in ``sections``.
    """

    step: ClassVar[str] = ""
    title: ClassVar[str]
    lead: ClassVar[str] = ""  # a sentence below the title
    first: ClassVar[str] = ""  # the field that remarks on the whole step lead to
    settles: ClassVar[tuple[str, ...]] = ()
    leaves: ClassVar[tuple[str, ...]] = ()  # paths below them that other pages settle
    template: ClassVar[str] = "annotation/campaigns/campaign_form_fields.html"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.settles = tuple(name for name, field in CAMPAIGN.items() if field.step == cls.step)

    def __init__(self, campaign: Campaign, data: Any = None) -> None:
        super().__init__(data, initial=self.initial_of(campaign))
        self.campaign = campaign
        fields = {name: form_field(CAMPAIGN[name]) for name in self.settles if name not in self.fields}
        self.made = {name: field for name, field in fields.items() if field is not None}
        self.fields |= self.made

    @classmethod
    def initial_of(cls, campaign: Campaign) -> dict[str, Any]:
        return {name: getattr(campaign, name) for name in cls.settles if not CAMPAIGN[name].related}

    @property
    def folded(self) -> Mapping[str, str]:
        """Return the sections that most managers leave as they are, each with a sentence about what is set now."""
        return {}

    @property
    def sections(self) -> Iterator[Section]:
        """Yield the sections: those that begin folded come last."""
        folded = self.folded
        titles = dict.fromkeys(CAMPAIGN[name].section for name in self.made)
        for title in sorted(titles, key=lambda title: title in folded):
            shown = [self[name] for name in self.made if CAMPAIGN[name].section == title]
            wide = [field for field in shown if isinstance(field.field.widget, forms.Textarea)]
            narrow = [field for field in shown if field not in wide]
            yield Section(title, wide, narrow, folded.get(title, ""), any(field.errors for field in shown))

    def changes(self) -> dict[str, Any]:
        """Return the changes to the draft that were sent and are valid."""
        return {name: self.cleaned_data[name] for name in self.settles if name in self.cleaned_data}

    def arguments(self) -> dict[str, Any]:
        return {"changes": self.changes(), "settle": self.settles, "leave": self.leaves}

    def input_of(self, path: str) -> tuple[forms.Form, str | None]:
        return super().input_of(path.split(".")[0])

    @classmethod
    def anchor_of(cls, path: str) -> str:
        """Return the id of a field's part of the page, by its path in the draft; ``first`` if it has no part alone."""
        shown = {*cls.base_fields, *(name for name in cls.settles if form_field(CAMPAIGN[name]) is not None)}
        name = next((name for name in reversed(path.split(".")) if name in shown), cls.first)
        return f"id_{name}_field" if name else ""

    @property
    def has_errors(self) -> bool:
        return bool(self.errors)


class WhatStep(Step):
    makes = "campaign"
    step = WHAT
    title = "What is rated"
    template = "annotation/campaigns/campaign_form_what.html"

    name = form_field(CAMPAIGN["name"])
    dataset = forms.ModelChoiceField(Dataset.objects.none(), empty_label=None, **words(CAMPAIGN["dataset"]))
    target = form_field(CAMPAIGN["target"], widget=forms.RadioSelect)
    systems = forms.ModelMultipleChoiceField(
        System.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        error_messages={
            "invalid_choice": "Found a system of another data set; those of the chosen one are listed now."
        },
    )
    reference_kinds = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, **words(CAMPAIGN["reference_kinds"])
    )
    split = forms.ChoiceField(required=False, **words(CAMPAIGN["split"]))

    def __init__(self, campaign: Campaign, data: Any = None, *, dataset: str = "") -> None:
        super().__init__(campaign, data)
        datasets = Dataset.objects.filter(project=campaign.project)
        offer_rows(self, "dataset", datasets)
        self.fields["dataset"].widget.attrs |= {
            "hx-get": "",  # the page itself, which answers with what the data set offers
            "hx-trigger": "change",
            "hx-target": "#what-offered",
        }
        chosen = dataset or (str(self.data.get("dataset", "")) if self.is_bound else "")
        self.offered = next((offered for offered in datasets if str(offered.pk) == chosen), campaign.dataset)
        offer_rows(self, "systems", System.objects.filter(dataset=self.offered).order_by("name"))
        stored_kinds = () if self.is_bound else campaign.reference_kinds
        offer_choices(self, "reference_kinds", reference_choices(self.offered, also=stored_kinds))
        splits = splits_of(self.offered)
        offer_choices(self, "split", [("", "All items"), *((split, split) for split in splits)])
        self.has_splits = bool(splits)
        listed = campaign.target == Target.LISTED  # another list is another campaign
        targets = [(value, offer) for value, offer in Target.offers().items() if (value == Target.LISTED) == listed]
        offer_choices(self, "target", targets)
        self.fields["dataset"].disabled = listed

    @classmethod
    def initial_of(cls, campaign: Campaign) -> dict[str, Any]:
        return {**super().initial_of(campaign), "dataset": campaign.dataset, "systems": campaign.systems.all()}

    def changes(self) -> dict[str, Any]:
        changes = super().changes()
        if changes["target"] != Target.CHOSEN:
            changes["systems"] = ()
        if changes["target"] != Target.REFERENCES:
            changes["reference_kinds"] = ()
        return changes


class ScreenStep(Step):
    step = SCREEN
    title = "Screen and scale"
    template = "annotation/campaigns/campaign_form_screen.html"

    presentation = form_field(CAMPAIGN["presentation"], widget=forms.RadioSelect)
    pairs = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple, **words(CAMPAIGN["pairs"]))

    def __init__(self, campaign: Campaign, data: Any = None) -> None:
        super().__init__(campaign, data)
        rated = campaign.systems.all() if campaign.target == Target.CHOSEN else campaign.dataset.systems.all()
        names = sorted(system.name for system in rated)
        pairs = [(SEPARATOR.join(pair), " and ".join(pair)) for pair in combinations(names, 2)]
        offer_choices(self, "pairs", pairs)
        self.initial["pairs"] = [SEPARATOR.join(sorted(pair)) for pair in campaign.pairs]
        criteria = list(campaign.criteria.all())
        self.questions = [criterion.question for criterion in criteria]  # as they were
        self.writing = WritingForm(
            data,
            prefix="writing",
            initial=WritingForm.initial_of(campaign.writing),
            use_required_attribute=False,
        )
        self.criteria = [
            CriterionForm(
                campaign,
                data,
                prefix=f"criterion-{number + 1}",
                initial=CriterionForm.initial_of(criteria[number]) if number < len(criteria) else None,
                use_required_attribute=False,
            )
            for number in range(MAX_CRITERIA)
        ]

    @property
    def sizes(self) -> list[str]:
        """Return how many answers each presentation takes."""
        return presentation_sizes(self.campaign)

    def is_valid(self) -> bool:
        parts = (self.writing, *self.filled)
        return all([super().is_valid(), *(form.is_valid() for form in parts)])  # each of them is checked

    @property
    def filled(self) -> list[CriterionForm]:
        return [form for form in self.criteria if not form.is_left_out]

    def changes(self) -> dict[str, Any]:
        changes = super().changes()
        changes["criteria"] = [form.draft() for form in self.filled]
        changes["writing"] = self.writing.design()
        compares = changes["presentation"] in COMPARING
        changes["pairs"] = [pair.split(SEPARATOR) for pair in changes["pairs"]] if compares else []
        return changes

    def input_of(self, path: str) -> tuple[forms.Form, str | None]:
        first, *rest = path.split(".")
        if first == "writing":
            return self.writing, rest[0] if rest and rest[0] in self.writing.fields else None
        if first != "criteria" or len(rest) < 2 or not rest[0].isdecimal():
            return super().input_of(path)
        form = self.filled[int(rest[0])]
        name = form.field_of(rest[1])
        return form, name if name in form.fields else None

    @property
    def has_errors(self) -> bool:
        return bool(self.errors) or any(form.errors for form in (self.writing, *self.filled))


class WordsStep(Step):
    step = WORDS
    title = "Words"
    template = "annotation/campaigns/campaign_form_words.html"

    @property
    def scale_follows(self) -> bool:
        return follows(self.campaign.instructions, list(self.campaign.criteria.all()))

    @property
    def scale_section(self) -> str:
        """The description of the scale, as the button would write it into the instructions."""
        return markdown(scale_section(self.campaign.instructions, list(self.campaign.criteria.all())))

    @property
    def describes_scale(self) -> bool:
        return bool(described_points(self.campaign.instructions))


class RatersStep(Step):
    step = RATERS
    title = "Raters and payment"

    def __init__(self, campaign: Campaign, data: Any = None) -> None:
        super().__init__(campaign, data)
        field = self.fields["ratings_per_unit"]
        field.label = f"Ratings of each {campaign.presentation_kind.nouns[0]}"
        field.help_text = "By so many different raters."
        for name in WORK_SETTINGS:
            self.fields[name].widget.attrs |= {
                "hx-get": "",  # the page itself, which answers with the work that follows
                "hx-trigger": "input changed delay:400ms",
                "hx-target": "#work-ahead",
                "hx-swap": "outerHTML",
                "hx-include": "#id_ratings_per_unit, #id_max_units_per_rater",
            }

    @property
    def folded(self) -> Mapping[str, str]:
        set_to = {name: str(self[name].value() or "") for name in self.made}
        low, high = set_to["lease_min_seconds"], set_to["lease_max_seconds"]
        follows_raters = f" It follows the raters, from {low} to {high}." if low and high else ""
        code = set_to["completion_code"]
        return {
            PER_RATER["section"]: _amount(set_to, self.campaign.presentation_kind.nouns[1]),
            LEASE["section"]: f"{set_to['lease_seconds']} seconds, then another rater gets the item.{follows_raters}",
            AT_END["section"]: f"Raters who did enough see the code “{code}”." if code else "No completion code.",
        }

    def clean_payment_currency(self) -> str:
        return str(self.cleaned_data["payment_currency"]).upper()


def _amount(set_to: Mapping[str, str], nouns: str) -> str:
    """Return in a sentence how much one rater does."""
    low, high, pause, pieces = (
        "" if set_to[name] == "0" else set_to[name]
        for name in ("min_units_per_rater", "max_units_per_rater", "seconds_between_units", "break_every_units")
    )
    bounds = {
        (True, True): f"From {low} to {high} {nouns}",
        (True, False): f"At least {low} {nouns}, without a limit",
        (False, True): f"At most {high} {nouns}",
        (False, False): f"As many {nouns} as they like",
    }
    between = f"{pause} seconds between two answers" if pause else "no pause between answers"
    breaks = f"a break suggested every {pieces}" if pieces else "no break suggested"
    return f"{bounds[bool(low), bool(high)]}; {between}; {breaks}."
