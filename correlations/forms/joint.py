"""The form of one study over several data sets: which, with their ratings and systems, and what all share."""

import re
from collections import defaultdict
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.http import QueryDict

from annotation.core.errors import AnnotationError
from annotation.core.forms import RefusableForm, offer_choices
from annotation.core.numbers import counted
from annotation.models import Dataset, Project, Release
from annotation.references.releases.selectors.releases import finished_releases, release_name
from correlations.forms.base import StudyBaseForm
from correlations.forms.metric_entries import are_usual, metric_entries, metrics_of_lines, subsets_of, ticked_entries
from correlations.forms.studies import AS_USUAL, CHOSEN_BELOW, OPTIONAL, StudyForm
from correlations.selectors.compared import MOST_STUDIES
from correlations.selectors.joint import datasets_to_study
from correlations.selectors.metrics import RUN, Offered, offered_metrics
from correlations.services.joint_studies import DATASETS, named_twice
from metrics.scoring.settings import SHARED
from metrics.selectors.scripts import proposed_tokenizer
from metrics.selectors.usual import UsualSettings

FIELD_OF_DATASET = re.compile(rf"{DATASETS}\.(\d+)\.(\w+)")
OWN = "own"  # the choice of a data set's own references
SETTINGS = (  # of a single study, which all data sets share
    *("unit_size", "assignments", "bootstrap", "order", "tokenize", "lowercase", "orientation", "remainder"),
    *("coefficients", "compare", "seed", "sweeps", "sensitivity"),
)


class DatasetPart(StudyBaseForm):
    """What one data set has by itself; it counts if ``used`` is ticked."""

    used = forms.BooleanField(required=False)
    references = forms.ChoiceField(label="Release of weights", required=False)
    scores = forms.MultipleChoiceField(
        label="Imported scores",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Scores of one name are one metric over the data sets. Of two imports of one name, choose one.",
    )

    MAIN = ("references", "campaigns", "criteria", "systems", "scores")

    def __init__(
        self, data: QueryDict | None, dataset: Dataset, releases: Sequence[Release], *, plain: bool = False
    ) -> None:
        self.releases = {release_name(release): release for release in releases}
        prefix = f"dataset-{dataset.pk}"
        newest = OWN if plain else next(iter(self.releases), OWN)
        chosen = newest if data is None else data.get(f"{prefix}-references", OWN)
        first = self.releases.get(chosen)
        super().__init__(data, dataset=dataset, release=first, prefix=prefix)
        del self.fields["name"]
        self.fields["used"].label = dataset.name
        labels = [(name, f"{release} ({name})") for name, release in self.releases.items()]
        offer_choices(self, "references", [*labels, (OWN, "none: all references count alike")])
        self.initial["references"] = newest
        if not labels:
            del self.fields["references"]
        self.offered = offered_metrics(self.project, dataset, weighted=bool(self.releases))
        runs = [each for group in self.offered.values() for each in group if each.value.startswith(RUN)]
        offer_choices(self, "scores", [(each.value, f"{each.label} ({each.summary})") for each in runs])
        self.names_of_scores = {each.value: each.label for each in runs}
        # The newest of each name: runs are listed newest first.
        latest = {each.label: each.value for each in reversed(runs)}
        self.initial["scores"] = [each.value for each in runs if latest[each.label] == each.value]
        if not runs:
            del self.fields["scores"]

    def clean_scores(self) -> list[str]:
        ticked: list[str] = self.cleaned_data["scores"]
        if problem := named_twice([self.names_of_scores[value] for value in ticked]):
            raise forms.ValidationError(problem)
        return ticked

    @property
    def is_used(self) -> bool:
        return bool(self["used"].value())

    @property
    def has_weights(self) -> bool:
        """Return whether a release of weights is chosen."""
        return "references" in self.fields and (self["references"].value() or OWN) != OWN

    @property
    def about(self) -> str:
        """Return how many ratings and systems there are to choose from."""
        campaigns, systems = (len(self.fields[name].choices) for name in ("campaigns", "systems"))  # type: ignore[attr-defined]
        return f"{counted(systems, 'system')}, ratings of {counted(campaigns, 'campaign')}"

    @property
    def design_fields(self) -> list[forms.BoundField]:
        return []

    def specification(self) -> dict[str, Any]:
        given = {name: self.cleaned_data[name] for name in ("campaigns", "systems")}
        if criteria := self.cleaned_data.get("criteria"):
            given["criteria"] = criteria
        return given | {"release": self.release_name}

    @property
    def has_scores(self) -> bool:
        """Return whether imported scores are ticked."""
        return "scores" in self.fields and bool(self["scores"].value())

    @property
    def imported(self) -> list[str]:
        return list(self.cleaned_data.get("scores", ()))


class JointStudyForm(RefusableForm):
    """A study's name, metrics and design, and a part for each data set that could be one of it.

    ``plain`` begins with the data sets' own references. A metric has the same settings on all data sets, or it is not
    one metric over them: the usual ones with weights, unless none of the data sets has any.
    """

    name = forms.CharField(max_length=120, help_text="The question of the study, in one line.")
    metrics = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    metric_lines = StudyForm.base_fields["metric_lines"]
    subsets = StudyForm.base_fields["subsets"]

    def __init__(self, data: QueryDict | None, *, project: Project, plain: bool = False) -> None:
        super().__init__(data)
        self.project = project
        self.fields |= {name: deepcopy(StudyForm.base_fields[name]) for name in SETTINGS}
        releases_of: dict[int, list[Release]] = defaultdict(list)
        for release in finished_releases(project):
            releases_of[release.reference_set.dataset_id].append(release)
        self.parts = [DatasetPart(data, each, releases_of[each.pk], plain=plain) for each in datasets_to_study(project)]
        # Until data sets are ticked, all of them count.
        chosen = self.used or self.parts
        self.is_weighted = any(part.has_weights for part in chosen)
        self.may_be_plain = self.is_weighted and not plain
        self.offered = _offered(self.parts)
        metrics = [(each.value, each.label) for group in self.offered.values() for each in group if not each.missing]
        offer_choices(self, "metrics", metrics)
        self.usual = _usual_settings(chosen, plain=not self.is_weighted)
        for parameter, name in SHARED.items():
            self.fields[name].initial = self.usual.shared[parameter]
        self.fields["order"].help_text = AS_USUAL
        ticked = StudyForm.base_fields["metrics"].initial
        self.initial.update(metrics=[value for value, _ in metrics if value in ticked], subsets="all")

    @property
    def settings_note(self) -> str:
        """Return in words which settings ticked metrics have."""
        if not are_usual(self.usual, {name: self[name].value() for name in SHARED.values()}):
            return CHOSEN_BELOW
        names = [value for value, _ in self.fields["metrics"].choices]  # type: ignore[attr-defined]
        return f"The usual settings, the same on all data sets: {self.usual.sentence(names)}."

    @property
    def used(self) -> list[DatasetPart]:
        """Return the parts of the ticked data sets."""
        return [part for part in self.parts if part.is_used]

    @property
    def metrics_chosen(self) -> list[str]:
        return [str(value) for value in self["metrics"].value() or ()]

    @property
    def design_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in SETTINGS]

    @property
    def design_is_wrong(self) -> bool:
        return any(field.errors for field in self.design_fields)

    def is_valid(self) -> bool:
        """Check what all share, and the ticked data sets; what is filled in at others does not matter."""
        return all([super().is_valid(), *(part.is_valid() for part in self.used)])

    def clean_metric_lines(self) -> list[dict[str, Any]]:
        return metrics_of_lines(self.cleaned_data["metric_lines"])

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if not 2 <= len(self.used) <= MOST_STUDIES:
            self.add_error(None, f"Tick two data sets or more, at most {MOST_STUDIES}: found {len(self.used)}.")
        chosen = [self.cleaned_data.get(name) for name in ("metrics", "metric_lines")]
        if not (any(chosen) or self.errors or all(part.has_scores for part in self.used)):
            self.add_error("metrics", "Choose at least one metric.")
        return cleaned

    def arguments(self) -> dict[str, Any]:
        shared = {name: self.cleaned_data[name] for name in SETTINGS}
        shared = {name: value for name, value in shared.items() if name not in OPTIONAL or value}
        shared["subsets"] = subsets_of(self.cleaned_data["subsets"])
        ticked = ticked_entries(self.usual, self.cleaned_data["metrics"], self.cleaned_data)
        metrics = [*ticked, *self.cleaned_data["metric_lines"]]
        datasets = [
            part.specification() | {"metrics": [*metrics, *metric_entries(part.imported)]} for part in self.used
        ]
        return {"name": self.cleaned_data["name"], "specification": {DATASETS: datasets, **shared}}

    def add_refusal(self, error: AnnotationError) -> None:
        """Show a refusal at the inputs of its data set; elsewhere it names the data set."""
        for path, messages in (error.fields or {"": [error.message]}).items():
            match = FIELD_OF_DATASET.fullmatch(path)
            part = self.used[int(match[1])] if match else None
            name = match[2] if match else path
            for message in messages:
                if part is None:
                    self.add_error(name if name in self.fields else None, message)
                elif name in part.fields:
                    part.add_error(name, message)
                elif name in self.fields:
                    self.add_error(name, f"{part.dataset}: {message}")
                else:
                    self.add_error(None, f"{part.dataset}: {name}: {message}")

    @property
    def problems(self) -> list[str]:
        """Return what is wrong in no field, and which data sets have a marked field."""
        marked = [f"{part.dataset}: see the marked fields." for part in self.used if self.is_bound and part.errors]
        return [*map(str, self.errors.get(NON_FIELD_ERRORS, ())), *marked]


def _usual_settings(parts: Sequence[DatasetPart], *, plain: bool) -> UsualSettings:
    """Return the usual settings on all data sets; tokens are split at spaces if one tokeniser does not suit all."""
    proposals = {proposed_tokenizer(part.dataset) for part in parts}
    tokenize = proposals.pop() if len(proposals) == 1 else StudyForm.base_fields["tokenize"].initial
    return UsualSettings(tokenize, plain=plain)


def _offered(parts: Sequence[DatasetPart]) -> dict[str, list[Offered]]:
    """Return the metrics of all data sets by group; one that some cannot use names these."""
    by_value: dict[str, tuple[str, list[Offered]]] = {}
    for part in parts:
        for group, offered in part.offered.items():
            for each in offered:
                if not each.value.startswith(RUN):
                    by_value.setdefault(each.value, (group, []))[1].append(each)
    groups: dict[str, list[Offered]] = {}
    for group, offered in by_value.values():
        lacking = [part.dataset.name for part, each in zip(parts, offered, strict=True) if each.missing]
        first = next((each for each in offered if not each.missing), offered[0])
        if 0 < len(lacking) < len(parts):
            first = first._replace(summary=f"{first.summary} Not for {', '.join(lacking)}.")
        groups.setdefault(group, []).append(first)
    return groups
