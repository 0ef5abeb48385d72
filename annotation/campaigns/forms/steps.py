"""The steps of a design. Each knows the fields of the draft that it settles, and shows errors of their services."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any, ClassVar

from django import forms

from annotation.campaigns.fields.table import CAMPAIGN, RATERS, SCREEN, WHAT, WORDS
from annotation.campaigns.forms.criteria import CriterionForm
from annotation.campaigns.forms.fields import form_field, words
from annotation.campaigns.presentations import COMPARING
from annotation.campaigns.services import MAX_CRITERIA
from annotation.core.forms import RefusableForm
from annotation.models import (
    Campaign,
    Dataset,
    Item,
    ResponseSource,
    SourceKind,
    System,
    Target,
)

SEPARATOR = "\x1f"  # between the names of a pair, which may hold anything that people type


class Step(RefusableForm):
    """Base of the steps. A step settles the fields of the table that name it.

    A class declares a field itself if its choices come from the data set, or if its template shows it in a special
    place. The others are made from the table and shown in ``sections``.
    """

    step: ClassVar[str] = ""
    title: ClassVar[str]
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
    def sections(self) -> Iterator[tuple[str, list[forms.BoundField], list[forms.BoundField]]]:
        """Yield each heading with its texts of several lines and its other fields."""
        for section in dict.fromkeys(CAMPAIGN[name].section for name in self.made):
            shown = [self[name] for name in self.made if CAMPAIGN[name].section == section]
            wide = [field for field in shown if isinstance(field.field.widget, forms.Textarea)]
            yield section, wide, [field for field in shown if field not in wide]

    def changes(self) -> dict[str, Any]:
        """Return the changes to the draft that were sent and are valid."""
        return {name: self.cleaned_data[name] for name in self.settles if name in self.cleaned_data}

    def place(self, path: str) -> tuple[forms.Form, str | None]:
        return super().place(path.split(".")[0])

    @property
    def has_errors(self) -> bool:
        return bool(self.errors)


class WhatStep(Step):
    step = WHAT
    title = "What is rated"
    template = "annotation/campaigns/campaign_form_what.html"

    name = form_field(CAMPAIGN["name"])
    dataset = forms.ModelChoiceField(Dataset.objects.none(), **words(CAMPAIGN["dataset"]))
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
        listed = campaign.target == Target.LISTED  # another list is another campaign
        targets = [(value, offer) for value, offer in Target.offers().items() if (value == Target.LISTED) == listed]
        self.fields["target"].choices = targets  # type: ignore[attr-defined]
        self.fields["dataset"].disabled = listed

    @classmethod
    def initial_of(cls, campaign: Campaign) -> dict[str, Any]:
        return {**super().initial_of(campaign), "dataset": campaign.dataset, "systems": campaign.systems.all()}

    def changes(self) -> dict[str, Any]:
        found = super().changes()
        if found["target"] != Target.CHOSEN:
            found["systems"] = ()
        if found["target"] != Target.REFERENCES:
            found["reference_kinds"] = ()
        return found


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
        self.fields["pairs"].choices = [  # type: ignore[attr-defined]
            (SEPARATOR.join(pair), f"{pair[0]} and {pair[1]}") for pair in combinations(names, 2)
        ]
        self.initial["pairs"] = [SEPARATOR.join(sorted(pair)) for pair in campaign.pairs]
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
        return all([super().is_valid(), *(form.is_valid() for form in used)])  # each of them is checked

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
        compares = found["presentation"] in COMPARING
        found["pairs"] = [pair.split(SEPARATOR) for pair in found["pairs"]] if compares else []
        return found

    def place(self, path: str) -> tuple[forms.Form, str | None]:
        first, *rest = path.split(".")
        if first != "criteria" or len(rest) < 2 or not rest[0].isdecimal():
            return super().place(path)
        form = self.asked[int(rest[0])]
        name = form.field_of(rest[1])
        return form, name if name in form.fields else None

    @property
    def has_errors(self) -> bool:
        return bool(self.errors) or any(form.errors for form in self.asked)


class WordsStep(Step):
    step = WORDS
    title = "Words"


class RatersStep(Step):
    step = RATERS
    title = "Raters and payment"

    def clean_payment_currency(self) -> str:
        return str(self.cleaned_data["payment_currency"]).upper()
