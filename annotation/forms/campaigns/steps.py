"""The steps of a design. Each knows the fields of the draft that it settles, and shows errors of their services."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, ClassVar

from django import forms

from annotation.forms.campaigns.criteria import CriterionForm
from annotation.models import (
    Admission,
    Campaign,
    CommentField,
    Dataset,
    Item,
    PresentationKind,
    ResponseSource,
    SourceKind,
    System,
    Target,
)
from annotation.rating.languages import BROWSER, LANGUAGES, language_label
from annotation.services.campaigns import MAX_CRITERIA

SEPARATOR = "\x1f"  # between the names of a pair, which may hold anything that people type


class Step(forms.Form):
    """Base of the steps. ``settles`` names fields of the draft; the form's own fields are named alike."""

    title: ClassVar[str]
    settles: ClassVar[tuple[str, ...]]
    leaves: ClassVar[tuple[str, ...]] = ()  # paths below them that other pages settle
    template: ClassVar[str]

    def __init__(self, campaign: Campaign, data: Any = None) -> None:
        super().__init__(data, initial=self.initial_of(campaign))
        self.campaign = campaign

    @classmethod
    def initial_of(cls, campaign: Campaign) -> dict[str, Any]:
        return {name: getattr(campaign, name) for name in cls.settles if name in cls.base_fields}

    def changes(self) -> dict[str, Any]:
        """Of the draft, from what was sent and found valid."""
        return {name: self.cleaned_data[name] for name in self.settles if name in self.cleaned_data}

    def place(self, path: str) -> tuple[forms.Form, str | None]:
        """The form and field that a refusal of the services belongs to; no field: above the form."""
        name = path.split(".")[0]
        return self, name if name in self.fields else None

    def add_refusals(self, fields: Mapping[str, Sequence[str]], message: str) -> None:
        for path, found in (fields or {"": [message]}).items():
            form, name = self.place(path)
            for text in found:
                form.add_error(name, text)

    @property
    def has_errors(self) -> bool:
        return bool(self.errors)


class WhatStep(Step):
    title = "What is rated"
    settles = ("name", "dataset", "target", "systems", "reference_kinds", "split", "item_limit")
    template = "annotation/campaign_form_what.html"

    name = forms.CharField(max_length=120, help_text="Raters see it, too.")
    dataset = forms.ModelChoiceField(Dataset.objects.none(), label="Data set")
    target = forms.ChoiceField(
        label="What is rated",
        choices=[
            (Target.REFERENCES, "References: whatever is not a system's output"),
            (Target.OUTPUTS, "The outputs of all systems"),
            (Target.CHOSEN, "The outputs of chosen systems"),
        ],
        widget=forms.RadioSelect,
    )
    systems = forms.ModelMultipleChoiceField(
        System.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        error_messages={
            "invalid_choice": "Found a system of another data set; those of the chosen one are listed now."
        },
    )
    reference_kinds = forms.MultipleChoiceField(
        label="References that came as",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None marked means all of them.",
    )
    split = forms.ChoiceField(label="Items of the split", required=False)
    item_limit = forms.IntegerField(
        label="Only the first so many items", required=False, min_value=1, help_text="Empty means all."
    )

    def __init__(self, campaign: Campaign, data: Any = None, *, dataset: str = "") -> None:
        super().__init__(campaign, data)
        datasets = Dataset.objects.filter(project=campaign.project)
        self.fields["dataset"].queryset = datasets  # type: ignore[attr-defined]
        self.fields["dataset"].widget.attrs |= {
            "hx-get": "",  # the page itself, which answers with what the data set offers
            "hx-trigger": "change",
            "hx-target": "#what-offered",
        }
        wanted = dataset or (str(self.data.get("dataset", "")) if self.is_bound else "")
        self.offered = next((one for one in datasets if str(one.pk) == wanted), campaign.dataset)
        systems = System.objects.filter(dataset=self.offered).order_by("name")
        self.fields["systems"].queryset = systems  # type: ignore[attr-defined]
        sources = ResponseSource.objects.filter(item__dataset=self.offered).order_by()
        found = set(sources.values_list("kind", flat=True).distinct())
        kept = found if self.is_bound else found | set(campaign.reference_kinds)
        kinds = [(kind, label) for kind, label in SourceKind.choices if kind in kept and kind != SourceKind.SYSTEM]
        self.fields["reference_kinds"].choices = kinds  # type: ignore[attr-defined]
        splits = Item.objects.filter(dataset=self.offered).order_by().values_list("split", flat=True).distinct()
        named = sorted(filter(None, splits))
        self.fields["split"].choices = [("", "All items"), *((one, one) for one in named)]  # type: ignore[attr-defined]
        self.has_splits = bool(named)
        if campaign.target == Target.LISTED:
            # What a list names, nothing here can change: another list is another campaign.
            self.fields["target"].choices = [(Target.LISTED, "The responses of a list")]  # type: ignore[attr-defined]
            self.fields["dataset"].disabled = True

    @classmethod
    def initial_of(cls, campaign: Campaign) -> dict[str, Any]:
        return {**super().initial_of(campaign), "systems": campaign.systems.all()}

    def changes(self) -> dict[str, Any]:
        found = super().changes()
        if found["target"] != Target.CHOSEN:
            found["systems"] = ()
        if found["target"] != Target.REFERENCES:
            found["reference_kinds"] = ()
        return found


class ScreenStep(Step):
    title = "Screen and scale"
    settles = ("presentation", "pairs", "criteria", "comment", "cannot_judge_reasons", "seed")
    template = "annotation/campaign_form_screen.html"

    presentation = forms.ChoiceField(
        label="How it is shown",
        choices=[
            (PresentationKind.SINGLE, "One response at a time"),
            (PresentationKind.PAIR, "Two systems' responses side by side"),
            (PresentationKind.LIST, "All responses to an item in one list, up to 25"),
        ],
        widget=forms.RadioSelect,
    )
    pairs = forms.MultipleChoiceField(
        label="Pairs of systems",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None marked means every pair.",
    )
    comment = forms.ChoiceField(
        label="A field for comments",
        choices=[
            (CommentField.OFF, "None"),
            (CommentField.OPTIONAL, "Offered on every screen"),
            (CommentField.REQUIRED, "Required on every screen"),
        ],
    )
    cannot_judge_reasons = forms.CharField(
        label="Reasons for not judging",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="A line for each. With at least one, raters are offered “Cannot judge this?” beside every response.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**63 - 1,
        help_text="Every random choice follows from it: who meets what, in which order.",
    )

    def __init__(self, campaign: Campaign, data: Any = None) -> None:
        super().__init__(campaign, data)
        rated = campaign.systems.all() if campaign.target == Target.CHOSEN else campaign.dataset.systems.all()
        names = sorted(system.name for system in rated)
        self.fields["pairs"].choices = [  # type: ignore[attr-defined]
            (SEPARATOR.join(pair), f"{pair[0]} and {pair[1]}") for pair in combinations(names, 2)
        ]
        self.initial["pairs"] = [SEPARATOR.join(sorted(pair)) for pair in campaign.pairs]
        self.initial["cannot_judge_reasons"] = "\n".join(campaign.cannot_judge_reasons)
        criteria = list(campaign.criteria.all())
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
        self.n_criteria = len(criteria)

    def is_valid(self) -> bool:
        used = [form for form in self.criteria if not self.is_left_out(form)]
        return all([form.is_valid() for form in [super(), *used]])  # noqa: C419 - check each of them

    @staticmethod
    def is_left_out(form: CriterionForm) -> bool:
        """Nothing was written into it, or it is to go."""
        text = [str(form.data.get(form.add_prefix(name), "")).strip() for name in ("name", "question")]
        return bool(form.data.get(form.add_prefix("remove"))) or not any(text)

    @property
    def asked(self) -> list[CriterionForm]:
        return [form for form in self.criteria if not self.is_left_out(form)]

    def changes(self) -> dict[str, Any]:
        found = super().changes()
        found["criteria"] = [form.draft() for form in self.asked]
        reasons = found["cannot_judge_reasons"].splitlines()
        found["cannot_judge_reasons"] = [line.strip() for line in reasons if line.strip()]
        is_pair = found["presentation"] == PresentationKind.PAIR
        found["pairs"] = [pair.split(SEPARATOR) for pair in found["pairs"]] if is_pair else []
        return found

    def place(self, path: str) -> tuple[forms.Form, str | None]:
        first, *rest = path.split(".")
        if first != "criteria" or len(rest) < 2 or not rest[0].isdecimal():
            return super().place(path)
        form = self.asked[int(rest[0])]
        if rest[1] == "scale_max" and form.cleaned_data.get("kind") == "preference":
            return form, "strength"
        return form, rest[1] if rest[1] in form.fields else None

    @property
    def has_errors(self) -> bool:
        return bool(self.errors) or any(form.errors for form in self.asked)


class WordsStep(Step):
    title = "Words"
    settles = ("instructions", "consent", "rater_language")
    template = "annotation/campaign_form_words.html"

    instructions = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 16}),
        help_text="Markdown. Raters read it before they start, and with one key while they rate.",
    )
    consent = forms.CharField(
        label="Consent text",
        required=False,
        widget=forms.Textarea(attrs={"rows": 12}),
        help_text="Markdown. If there is any, a rater must agree before the first screen.",
    )
    rater_language = forms.ChoiceField(
        label="Language of buttons and messages",
        choices=[(code, language_label(code)) for code in (BROWSER, *LANGUAGES)],
        required=False,
        help_text="Your own texts stay as you write them.",
    )


class RatersStep(Step):
    title = "Raters and payment"
    settles = (
        "ratings_per_unit", "min_units_per_rater", "max_units_per_rater", "seconds_between_units", "break_every_units",
        "lease_seconds", "lease_min_seconds", "lease_max_seconds", "admission", "payment_per_unit", "payment_currency",
        "payment_fee_percent", "completion_code",
    )  # fmt: skip
    template = "annotation/campaign_form_raters.html"

    ratings_per_unit = forms.IntegerField(
        label="Ratings of each unit", min_value=1, max_value=100, help_text="So many different raters see each screen."
    )
    admission = forms.ChoiceField(
        label="Who may take part by the link",
        choices=[
            (Admission.OPEN, "Anybody; a name if they like"),
            (Admission.NAMED, "Anybody who gives a name"),
            (Admission.ACCOUNT, "Only people who sign in with an account"),
            (Admission.PROVIDER, "Only people whom Prolific or Mechanical Turk sends; the direct link admits nobody"),
        ],
        help_text="Recruitment services have links of their own.",
    )
    min_units_per_rater = forms.IntegerField(
        label="At least", min_value=0, help_text="Who stops before so many screens gets no completion code."
    )
    max_units_per_rater = forms.IntegerField(
        label="At most", required=False, min_value=1, help_text="Screens by one rater; empty means no limit."
    )
    seconds_between_units = forms.IntegerField(
        label="Seconds between screens", min_value=0, help_text="From one handed out to the next; 0 asks for none."
    )
    break_every_units = forms.IntegerField(label="Suggest a break every", min_value=0, help_text="Screens; 0 is never.")
    lease_seconds = forms.IntegerField(
        label="Seconds for a screen",
        min_value=5,
        help_text="Without an answer it then goes to somebody else. A late answer is kept and paid all the same.",
    )
    lease_min_seconds = forms.IntegerField(
        label="Follow the raters' own pace, not below",
        required=False,
        min_value=5,
        help_text="Seconds. Empty, and empty below: the time stays fixed.",
    )
    lease_max_seconds = forms.IntegerField(label="and not above", required=False, min_value=5, help_text="Seconds.")
    payment_per_unit = forms.DecimalField(
        label="Payment for each screen",
        min_value=0,
        max_digits=10,
        decimal_places=4,
        help_text="Checks among the work are paid like it.",
    )
    payment_currency = forms.CharField(label="Currency", min_length=3, max_length=3, help_text="Such as GBP, EUR, USD.")
    payment_fee_percent = forms.DecimalField(
        label="Fee of the provider, in percent", min_value=0, max_digits=5, decimal_places=2
    )
    completion_code = forms.CharField(
        required=False, max_length=60, help_text="Shown at the end to those who came by the link and did enough."
    )

    @classmethod
    def initial_of(cls, campaign: Campaign) -> dict[str, Any]:
        amounts = {name: getattr(campaign, name) for name in ("payment_per_unit", "payment_fee_percent")}
        plain = {name: f"{amount.normalize():f}" for name, amount in amounts.items()}
        return {**super().initial_of(campaign), **plain}

    def clean_payment_currency(self) -> str:
        return str(self.cleaned_data["payment_currency"]).upper()
