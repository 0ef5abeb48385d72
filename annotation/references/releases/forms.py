"""Forms of reference sets and releases; the services check what is allowed."""

import re
from typing import Any

from django import forms
from django.utils.html import escape

from annotation.campaigns.rated import kinds_rated
from annotation.core.forms import EditForm, RefusableForm, offer_choices, offer_rows
from annotation.datasets.forms import UploadForm
from annotation.models import Campaign, CampaignState, Dataset, ReferenceSet, SourceKind
from annotation.quality.selectors.decisions import excluded_raters
from annotation.rating.selectors.ratings import campaign_criteria, scale_groups
from annotation.references.releases.selectors.releases import registered_rules, source_counts
from annotation.references.releases.services.imports import ImportOptions
from annotation.references.releases.services.releases import MAX_REASON
from annotation.references.sets.services import TEXT_KINDS
from annotation.weighting.schemes import DEFAULT_SCHEME, SCHEMES

MAX_RULE_CHARACTERS = 100_000


def _source_value(kind: str, system: str) -> str:
    return f"system:{system}" if system else f"kind:{kind}"


LONGEST_NAMED = 100  # characters of a data set's name


class ReferenceSetForm(RefusableForm):
    """Which responses of a data set are references, and which campaigns' ratings weigh them."""

    makes = "reference set"
    inputs = {
        "source_kinds": "sources",
        "source_systems": "sources",
        "original_kinds": "originals",
        "original_systems": "originals",
    }
    name = forms.CharField(max_length=120)
    description = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 2}))
    campaigns = forms.ModelMultipleChoiceField(
        queryset=Campaign.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        help_text="Every rating of a reference in these campaigns counts, whatever system or source it was rated for.",
    )
    sources = forms.MultipleChoiceField(
        label="References",
        widget=forms.CheckboxSelectMultiple,
        help_text="A response is a reference if at least one of its sources is chosen.",
    )
    originals = forms.MultipleChoiceField(
        label="Original",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="The one answer that really followed, if the data set has it. Studies then tell what many references "
        "gain over it alone; weights do not depend on it.",
    )

    def __init__(self, *args: Any, dataset: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.dataset = dataset
        offer_rows(self, "campaigns", dataset.campaigns.exclude(state=CampaignState.DRAFT).order_by("id"))
        counts = source_counts(dataset)
        choices = [
            (_source_value(kind, system), f"{system or SourceKind(kind).label} ({count:,})")
            for kind, system, count in counts
        ]
        if not self.is_bound and self.initial.get("campaigns"):
            rated = kinds_rated(dataset.campaigns.filter(pk__in=self.initial["campaigns"]))
            self.initial["sources"] = [_source_value(*each) for *each, _ in counts if tuple(each) in rated]
        self.initial.setdefault("name", f"{dataset.name[:LONGEST_NAMED]} references")
        if (seed := _source_value(SourceKind.SEED, "")) in dict(choices):
            self.initial.setdefault("originals", [seed])
        offer_choices(self, "sources", choices)
        offer_choices(self, "originals", choices)

    @property
    def main(self) -> list[forms.BoundField]:
        return [field for field in self.visible_fields() if field.name != "originals"]

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``reference_set_create``."""
        data = self.cleaned_data
        return {
            "name": data["name"],
            "description": data["description"],
            "campaigns": list(data["campaigns"]),
            "source_kinds": _with_prefix("kind:", data["sources"]),
            "source_systems": _with_prefix("system:", data["sources"]),
            "original_kinds": _with_prefix("kind:", data["originals"]),
            "original_systems": _with_prefix("system:", data["originals"]),
        }


class ReferenceSetEditForm(EditForm):
    """Name and description of a set; its address does not change."""

    makes = "reference set"
    name = forms.CharField(max_length=120)
    description = forms.CharField(required=False, max_length=5000, widget=forms.Textarea(attrs={"rows": 3}))


class AddCampaignForm(RefusableForm):
    """Another campaign whose ratings later releases of a set include."""

    inputs = {"campaigns": "campaign"}
    campaign = forms.ModelChoiceField(Campaign.objects.none(), empty_label="Choose a campaign")

    def __init__(self, *args: Any, reference_set: ReferenceSet, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        others = reference_set.dataset.campaigns.exclude(state=CampaignState.DRAFT)
        present = reference_set.campaigns.values("pk")
        offer_rows(self, "campaign", others.exclude(pk__in=present).order_by("-id"))


class DeprecationForm(RefusableForm):
    reason = forms.CharField(
        max_length=MAX_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="What is wrong, and what to use instead. Shown wherever the release is named, and in its data card.",
    )


class WeightsUploadForm(UploadForm):
    """A file of weights for texts of one data set."""

    file = forms.FileField(
        label="File",
        help_text="JSON Lines as releases are exported, or TSV or CSV with columns item, text and weight; in UTF-8.",
        widget=forms.FileInput(attrs={"accept": ".jsonl,.ndjson,.csv,.tsv,.tab,.txt"}),
    )
    name = forms.CharField(
        label="Name of the new reference set",
        max_length=120,
        required=False,
        help_text="Or choose an existing set below.",
    )
    reference_set = forms.ModelChoiceField(
        label="Or the next release of", queryset=ReferenceSet.objects.none(), required=False, empty_label="A new set"
    )
    origin = forms.CharField(
        label="Where the weights come from",
        required=False,
        max_length=300,
        help_text="A paper, a web address or a person. Shown with the release.",
    )
    licence = forms.CharField(label="Licence of the weights", required=False, max_length=300)
    add_texts = forms.BooleanField(
        label="Add texts that the data set does not have",
        required=False,
        help_text="They become responses of their items. If not ticked, an unknown text refuses the file.",
    )
    kind = forms.ChoiceField(
        label="Added texts are",
        initial=SourceKind.HUMAN,
        required=False,
        help_text="For texts whose kind is not in the file.",
    )
    field_order = ("name", "reference_set", "file", "file_format", "origin", "licence", "add_texts", "kind")

    def __init__(self, *args: Any, dataset: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_rows(self, "reference_set", dataset.reference_sets.order_by("name"))
        offer_choices(self, "kind", [(kind, SourceKind(kind).label) for kind in TEXT_KINDS])

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        data["kind"] = data.get("kind") or SourceKind.HUMAN.value
        if data.get("reference_set") is None and not data.get("name") and "reference_set" not in self.errors:
            self.add_error("name", "Empty; accepted: a name of up to 120 characters, or a set below.")
        return data

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``weights_import_create``."""
        options = {name: value for name, value in self.cleaned_data.items() if name not in ("file", "kept")}
        file = self.cleaned_data["file"]
        return {"filename": file.name, "content": file.read(), "options": ImportOptions(**options)}


def _parameter_field(scheme: str, name: str) -> str:
    return f"{scheme}_{name}"


def _methods() -> list[tuple[str, str]]:
    return [(scheme.key, f"{scheme.label}: {scheme.about}") for scheme in SCHEMES.values()]


class ReleaseForm(RefusableForm):
    """Method, parameters and exclusion rules of a release."""

    inputs = {"parameters": "", "exclusion_rules": ""}
    method = forms.ChoiceField(choices=_methods, initial=DEFAULT_SCHEME, widget=forms.RadioSelect)
    criteria = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        help_text="By default all. A judgement is the mean over the chosen criteria.",
    )
    exclude_raters = forms.CharField(
        label="Leave out raters",
        required=False,
        max_length=MAX_RULE_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
        help_text="Pseudonyms, separated by commas or line breaks. Their ratings stay in the log.",
    )
    exclude_ratings = forms.CharField(
        label="Leave out single ratings",
        required=False,
        max_length=MAX_RULE_CHARACTERS,
        help_text="Rating numbers, as shown on the page of a response, separated by commas.",
    )
    min_seconds = forms.FloatField(
        label="Leave out ratings faster than (seconds)", required=False, help_text="Time from shown to sent."
    )
    min_ratings = forms.IntegerField(
        label="Leave out raters with fewer ratings than", required=False, help_text="Counted after the rules above."
    )
    with_excluded = forms.BooleanField(label="Also count the ratings of excluded raters", required=False)
    with_registered = forms.BooleanField(label="Apply the campaigns' registered rules", required=False)

    def __init__(self, *args: Any, reference_set: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for scheme in SCHEMES.values():
            for parameter in scheme.parameters:
                label = f"{parameter.label} ({scheme.label.lower()} only)"
                field = forms.FloatField(label=label, required=False, initial=parameter.default)
                self.fields[_parameter_field(scheme.key, parameter.name)] = field
        campaigns = list(reference_set.campaigns.all())  # none in a set of imported weights
        rated = campaign_criteria(campaigns) if campaigns else []
        self.offered_criteria = list(dict.fromkeys(criterion.name for criterion in rated))
        scales = {
            name: " or ".join(scale_groups([criterion for criterion in rated if criterion.name == name]))
            for name in self.offered_criteria
        }
        offer_choices(self, "criteria", [(name, f"{name} ({scale})") for name, scale in scales.items()])
        if len(set(scales.values())) > 1:
            self.fields["criteria"].help_text = (
                f"{self.fields['criteria'].help_text} Their scales differ: if several are chosen, "
                "the ends of each scale become −1 and +1 before they are averaged."
            )
        self.fields["criteria"].initial = self.offered_criteria
        excluded = list(excluded_raters(reference_set.campaigns.all()).values_list("pseudonym", flat=True))
        self.n_excluded = len(excluded)
        listed = ", ".join(excluded[:10]) + (" …" if len(excluded) > 10 else "")
        self.fields["with_excluded"].help_text = escape(f"Raters excluded in the campaigns: {listed}.")
        self.registered = registered_rules(reference_set)
        listed = ", ".join(f"version {rules.version} of “{rules.campaign}”" for rules in self.registered)
        self.fields["with_registered"].help_text = escape(f"Applied to the ratings of this release: {listed}.")

    @property
    def advanced(self) -> list[forms.BoundField]:
        return [self[_parameter_field(key, name)] for key, scheme in SCHEMES.items() for name in scheme.defaults]

    @property
    def rule_fields(self) -> list[forms.BoundField]:
        names = ["exclude_raters", "exclude_ratings", "min_seconds", "min_ratings"]
        if self.n_excluded:
            names.insert(0, "with_excluded")
        if self.registered:
            names.insert(0, "with_registered")
        return [self[name] for name in names]

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``release_create``."""
        data = self.cleaned_data
        parameters: dict[str, Any] = {}
        for name in SCHEMES[data["method"]].defaults:
            value = data[_parameter_field(data["method"], name)]
            if value is not None:
                parameters[name] = value
        if len(data["criteria"]) < len(self.offered_criteria):
            parameters["criteria"] = data["criteria"]
        rules = (
            ("exclude_raters", "raters", _parts(data["exclude_raters"])),
            ("exclude_ratings", "ratings", _parts(data["exclude_ratings"])),
            ("min_seconds_per_rating", "seconds", data["min_seconds"]),
            ("min_ratings_per_rater", "ratings", data["min_ratings"]),
        )
        return {
            "method": data["method"],
            "parameters": parameters,
            "exclusion_rules": [
                {"rule": rule, "version": 1, name: value} for rule, name, value in rules if value not in (None, [])
            ],
            "with_excluded": data["with_excluded"],
            "with_registered": data["with_registered"],
        }


def _with_prefix(prefix: str, values: list[str]) -> list[str]:
    """Return the values that begin with a prefix, without it."""
    return [value.removeprefix(prefix) for value in values if value.startswith(prefix)]


def _parts(text: str) -> list[str]:
    """Return the parts of a text between commas and line breaks."""
    return [part for part in (piece.strip() for piece in re.split(r"[,\n]", text)) if part]
