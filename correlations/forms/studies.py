"""The form of a new study."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.db.models import Max, Min

from annotation.core.forms import offer_choices
from annotation.core.prose import enumerated
from annotation.models import Dataset, JobState, Release
from annotation.references.sets.selectors import reasons_not_to_score
from correlations.forms.base import StudyBaseForm
from correlations.forms.metric_entries import (
    are_usual,
    metrics_of_lines,
    special_of_ticked,
    subsets_of,
    ticked_entries,
)
from correlations.models import Study
from correlations.selectors.metrics import RUN, offered_metrics
from correlations.selectors.run_settings import RunSettings, settings_of_runs, unusual_in_words, unusual_runs
from correlations.specification import COMPARED, ORIENTATIONS, REMAINDERS
from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.units import USUAL, USUAL_SIZE
from metrics.forms.runs import TOKENIZER_NAMES
from metrics.models import ScoreRun
from metrics.scoring.external import External
from metrics.scoring.registry import METRICS
from metrics.scoring.settings import SHARED, special_parameters
from metrics.scoring.texts import TOKENIZERS
from metrics.selectors.copies import RULE, copies_sentence, systems_that_copy
from metrics.selectors.scripts import dataset_script
from metrics.selectors.usual import UsualSettings, usual_settings_on

OPTIONAL = ("unit_size", "pairs")  # fitted to the data if they are empty
LONGEST_NAME = 120
MOST_NAMED = 2  # metrics in a proposed name; of more the first is named
MOST_ALIKE = 100  # studies of one proposed name that are numbered
SAME_SETTINGS = (  # that a study like another one begins with
    *("unit_size", "assignments", "bootstrap", "order", "tokenize", "lowercase", "orientation", "remainder"),
    *("coefficients", "compare", "seed", "sweeps"),
)
AS_USUAL = (
    "Unchanged, each metric has its usual order, tokeniser and case; if you change one of these, they hold for all."
)
CHOSEN_BELOW = "Every ticked metric has the order, tokeniser and case chosen below, not its usual ones."
AS_SCORED = "scores"  # in an address: begin with the settings of the score runs
PLAIN_SUBSETS = (
    "Which references of the data set the metrics read, one row of the table each. All count alike; weights come from "
    "a release."
)
PLAIN_CHOICES = [("all", "All"), ("original", "The original one"), ("original, all", "Both, each in rows of its own")]


class StudyForm(StudyBaseForm):
    """The form of a study. ``only`` is what alone is ticked because the page before was about it."""

    name = forms.CharField(max_length=LONGEST_NAME, required=False)
    only = ""
    metrics = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, initial=["bleu", "sbleu", "delta_bleu"]
    )
    metric_lines = forms.CharField(
        label="Metrics with their own parameters",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text=(
            "One per line, such as <code>bleu:order=4</code> or <code>am_fm:lambda=0.5,k=20,am=my-space/v2</code>. "
            "What a line leaves out is the study's: order, tokeniser and case."
        ),
    )
    subsets = forms.CharField(
        label="References",
        initial="original, w>0, w>=0.6, all",
        help_text=(
            "Which references the metrics read, one row of the table each: <code>all</code>, those with a weight above"
            " a number such as <code>w>0</code> or <code>w>=0.6</code>, or the <code>original</code> one."
        ),
    )
    pairs = forms.CharField(
        label="Pairs of systems",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="One per line: <code>Baseline, TeamA</code>. Empty: every two systems that share rated items.",
    )
    unit_size = forms.IntegerField(
        label="Unit size M",
        required=False,
        min_value=1,
        help_text=f"Items in one observation. Empty: {USUAL_SIZE}, or fewer if the items are too few for enough units.",
    )
    assignments = forms.IntegerField(
        label="Assignments K", initial=1000, min_value=1, max_value=10_000, help_text="Random cuts into units."
    )
    bootstrap = forms.IntegerField(
        label="Bootstrap replicates",
        initial=500,
        min_value=0,
        max_value=10_000,
        help_text="Up to 10,000; 0: no bootstrap interval.",
    )
    order = forms.TypedChoiceField(
        label="Longest n-gram",
        coerce=int,
        choices=[(order, str(order)) for order in range(1, 5)],
        initial=2,
    )
    tokenize = forms.ChoiceField(
        label="Tokeniser",
        choices=[(name, TOKENIZER_NAMES.get(name, name)) for name in TOKENIZERS],
        initial="whitespace",
    )
    lowercase = forms.BooleanField(label="Lowercase first", required=False, initial=True)
    orientation = forms.ChoiceField(choices=[(name, each.label) for name, each in ORIENTATIONS.items()], initial="both")
    remainder = forms.ChoiceField(
        label="Last, shorter unit", choices=[(name, each.label) for name, each in REMAINDERS.items()], initial="keep"
    )
    coefficients = forms.MultipleChoiceField(
        choices=[(key, COEFFICIENTS[key].label) for key in dict.fromkeys((*USUAL, *COEFFICIENTS))],
        initial=list(USUAL),
        widget=forms.CheckboxSelectMultiple,
        help_text="Sweeps and comparisons of metrics use the first.",
    )
    compare = forms.ChoiceField(
        label="Compare",
        choices=list(COMPARED.items()),
        initial="best",
        help_text="Each two on the items that both can use, corrected for the number of comparisons.",
    )
    seed = forms.IntegerField(
        label="Seed of the random numbers",
        initial=20150726,
        min_value=0,
        help_text="The same seed gives the same random choices.",
    )
    sweeps = forms.BooleanField(label="Also sweep thresholds, unit sizes and orders", required=False, initial=True)
    sensitivity = forms.BooleanField(
        label="Also compute how many raters were needed",
        required=False,
        help_text="Draws raters and fewer ratings anew, and weighs by other schemes. It takes longer than the table.",
    )

    MAIN = ("name", "campaigns", "criteria", "systems")
    METRICS = ("metrics", "metric_lines", "subsets")

    def __init__(
        self,
        *args: Any,
        dataset: Dataset,
        release: Release | None = None,
        like: Study | None = None,
        without: Sequence[str] = (),
        settings: str = "",
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, dataset=dataset, release=release, **kwargs)
        compared = "Every two of them are compared, by each metric and by the raters."
        notes = reasons_not_to_score(dataset, release.reference_set if release else None)
        copying = [each for each in systems_that_copy(dataset, release) if each.system not in notes]
        circular = f"{copies_sentence(copying)} {RULE}" if copying else ""
        self.fields["systems"].help_text = f"{compared} {circular}".strip()
        if not self.is_bound and (release is None or _weighs_all_alike(release)):
            self.initial["subsets"] = "all"
        elif not self.is_bound and release is not None and not release.weights.filter(is_original=True).exists():
            self.initial["subsets"] = self.base_fields["subsets"].initial.removeprefix("original, ")
        self.offered = offered_metrics(self.project, dataset, weighted=release is not None)
        metrics = [(each.value, each.label) for group in self.offered.values() for each in group if not each.missing]
        offer_choices(self, "metrics", metrics)
        self.initial["metrics"] = self._ticked([value for value, _ in metrics], weighted=release is not None)
        script = dataset_script(dataset)
        self.usual = usual_settings_on(dataset, weighted=release is not None)
        for parameter, name in SHARED.items():
            self.fields[name].initial = self.usual.shared[parameter]
        self.fields["order"].help_text = AS_USUAL
        if script:
            self.fields["tokenize"].help_text = f"{script.reason} “{script.proposed}” separates them."
        self.settings_note = self.other_settings = ""
        if like is None:
            scored = settings_of_runs(dataset, release) if settings == AS_SCORED else None
            if scored is not None and not self.is_bound:
                self._begin_as_scored(scored)
            self._say_settings([value for value, _ in metrics if value in METRICS], as_scored=scored is not None)
        if like is not None and not self.is_bound:
            self._begin_like(like)
            if like.dataset_id == dataset.pk:
                self._begin_with_texts_of(like, without)
        if release is None:
            self._offer_plain_subsets()
        self._propose_name()

    def tick_only(self, run: int) -> None:
        """Tick the imported scores of this run alone, or the metric of a computed one, if it is offered."""
        found = ScoreRun.objects.filter(dataset=self.dataset, number=run, state=JobState.DONE).first()
        value = "" if found is None else f"{RUN}{run}" if found.metric == External.name else found.metric
        if not self.is_bound and (label := self._labels.get(value)):
            self.initial["metrics"], self.only = [value], label
            self._propose_name()

    @property
    def _labels(self) -> dict[str, str]:
        return dict(self.fields["metrics"].choices)  # type: ignore[attr-defined]

    def _propose_name(self) -> None:
        """Show in the empty field what a study of the ticked metrics is called."""
        field, ticked = self.fields["name"], self.initial["metrics"]
        if self.is_bound:
            ticked = self.fields["metrics"].widget.value_from_datadict(self.data, self.files, "metrics") or []
        name = proposed_name(self.dataset, [self._labels[value] for value in ticked if value in self._labels])
        field.widget.attrs["placeholder"] = name
        field.help_text = (
            f"The question of the study, in one line. Left empty, it is named after its metrics: “{name}”."
        )

    def _offer_plain_subsets(self) -> None:
        """Offer the few choices of references that there are without weights, unless the field begins with another."""
        if self.is_bound or self.initial["subsets"] in dict(PLAIN_CHOICES):
            self.fields["subsets"] = forms.ChoiceField(label="References", choices=PLAIN_CHOICES)
        self.fields["subsets"].help_text = PLAIN_SUBSETS

    def _begin_with_texts_of(self, study: Study, without: Sequence[str]) -> None:
        """Tick the ratings and systems of a study of the same data set, but for systems to do without."""
        for name in ("campaigns", "criteria", "systems"):
            if name in self.fields:
                offered = {value for value, _ in self.fields[name].choices}  # type: ignore[attr-defined]
                self.initial[name] = [
                    each for each in study.specification.get(name, ()) if each in offered and each not in without
                ]
        if without:
            self.initial["name"] = f"{study.name} without {' and '.join(without)}"[:120]

    def _say_settings(self, offered: list[str], *, as_scored: bool) -> None:
        """Say which settings these metrics have if they are ticked, and which scores have others."""
        if as_scored:
            self.settings_note = "The settings of the runs that Scores shows, which are not all the usual ones."
        elif are_usual(self.usual, {name: self[name].value() for name in SHARED.values()}):
            self.settings_note = usual_note(self.usual, offered)
            self.other_settings = unusual_in_words(unusual_runs(self.dataset, self.release, self.usual))
        else:
            self.settings_note = CHOSEN_BELOW

    def _begin_as_scored(self, scored: RunSettings) -> None:
        """Begin with the settings of the runs that *Scores* shows."""
        self.initial = dict(self.initial) | scored.shared
        ticked = self.initial["metrics"]
        special = {
            name: parameters
            for name, parameters in scored.special.items()
            if name in ticked and parameters != special_of_ticked(self.usual, name, scored.shared)
        }
        self.initial["metrics"] = [value for value in ticked if value not in special]
        self.initial["metric_lines"] = "\n".join(_written(name, parameters) for name, parameters in special.items())

    def _begin_like(self, study: Study) -> None:
        """Begin with another study's settings; of another data set with its own imported scores."""
        spec = study.specification
        same = {name: spec[name] for name in SAME_SETTINGS if name in spec}
        offered = {each.value for group in self.offered.values() for each in group if not each.missing}
        computed = [entry for entry in spec["metrics"] if entry["name"] != External.name]
        ticked = {name: special_of_ticked(self.usual, name, spec) for name in offered if name in METRICS}
        usual = [entry["name"] for entry in computed if ticked.get(entry["name"]) == _special(entry, spec)]
        lines = [_line(entry, spec) for entry in computed if entry["name"] not in usual]
        imported = [value for value in self.initial["metrics"] if value.startswith(RUN)]
        if study.dataset_id == self.dataset.pk:
            imported = [value for value in imported if value in _runs_of(study)]
        self.initial = (
            dict(self.initial)
            | same
            | {
                "name": study.name,
                "metrics": [*usual, *imported],
                "metric_lines": "\n".join(lines),
                "subsets": ", ".join(spec["subsets"]),
            }
        )

    def _ticked(self, offered: list[str], *, weighted: bool) -> list[str]:
        """Return what is ticked at first: the papers' metrics, imported scores, and without weights what was scored."""
        ticked = {*self.base_fields["metrics"].initial, *(value for value in offered if value.startswith(RUN))}
        if not weighted:
            done = ScoreRun.objects.filter(dataset=self.dataset, state=JobState.DONE)
            ticked |= set(done.order_by().values_list("metric", flat=True).distinct())
        return [value for value in offered if value in ticked]

    @property
    def design_fields(self) -> list[forms.BoundField]:
        return [field for field in self.visible_fields() if field.name not in (*self.MAIN, *self.METRICS)]

    @property
    def metrics_chosen(self) -> list[str]:
        """Return the values of the ticked boxes."""
        return [str(value) for value in self["metrics"].value() or ()]

    def clean_metric_lines(self) -> list[dict[str, Any]]:
        return metrics_of_lines(self.cleaned_data["metric_lines"])

    def arguments(self) -> dict[str, Any]:
        """Return what the study is made of; without a name it is named after its metrics."""
        arguments = super().arguments()
        lines = [METRICS[entry["name"]].label for entry in self.cleaned_data["metric_lines"]]
        labels = [*(self._labels[value] for value in self.cleaned_data["metrics"]), *lines]
        return arguments | {"name": arguments["name"] or proposed_name(self.dataset, labels)}

    def clean_pairs(self) -> list[list[str]]:
        """Read pairs of system names, which may hold commas themselves."""
        names = [name for name, _ in self.fields["systems"].choices]  # type: ignore[attr-defined] # it has choices
        pairs = []
        for line in filter(None, map(str.strip, self.cleaned_data["pairs"].splitlines())):
            cuts = [position for position, character in enumerate(line) if character == ","]
            split = [[line[:cut].strip(), line[cut + 1 :].strip()] for cut in cuts]
            known = next((pair for pair in split if set(pair) <= set(names)), None)
            if known is None:
                accepted = ", ".join(names)
                raise forms.ValidationError(f"Found {line!r}; accepted: two systems with a comma, of {accepted}.")
            pairs.append(known)
        return pairs

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if not (self.cleaned_data.get("metrics") or self.cleaned_data.get("metric_lines") or self.errors):
            self.add_error("metrics", "Choose at least one metric.")
        return cleaned

    def specification(self) -> dict[str, Any]:
        given = {name: value for name, value in self.cleaned_data.items() if name not in ("name", "metric_lines")}
        given = {name: value for name, value in given.items() if name not in OPTIONAL or value}
        subsets = subsets_of(self.cleaned_data["subsets"])
        ticked = ticked_entries(self.usual, self.cleaned_data["metrics"], self.cleaned_data)
        metrics = [*ticked, *self.cleaned_data["metric_lines"]]
        return given | {"release": self.release_name, "subsets": subsets, "metrics": metrics}


def proposed_name(dataset: Dataset, labels: Sequence[str]) -> str:
    """Return a name of a study of these metrics on a data set that no study of its project has."""
    several = list(dict.fromkeys(labels))
    what = enumerated(several, MOST_NAMED) if several else "Metrics"
    whole = f"{what}, on {dataset.name}"
    candidates = [whole[:LONGEST_NAME], *(f"{whole[: LONGEST_NAME - 5]} ({n})" for n in range(2, MOST_ALIKE))]
    studies = Study.objects.filter(project=dataset.project_id, name__in=candidates)
    used = set(studies.values_list("name", flat=True))
    return next((each for each in candidates if each not in used), candidates[-1])


def usual_note(usual: UsualSettings, offered: Sequence[str]) -> str:
    """Return the usual settings of the offered metrics in words."""
    return f"The usual settings, the same as in one click on New score run: {usual.sentence(offered)}."


def _runs_of(study: Study) -> set[str]:
    """Return the values of the boxes of imported scores that a study used: those with its metrics' parameters."""
    used = [entry["parameters"] for entry in study.specification["metrics"] if entry["name"] == External.name]
    runs = ScoreRun.objects.filter(dataset=study.dataset_id, metric=External.name, state=JobState.DONE)
    return {f"{RUN}{run.number}" for run in runs.only("number", "parameters") if run.parameters in used}


def _special(entry: Mapping[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    shared = {parameter: spec[name] for parameter, name in SHARED.items()}
    return special_parameters(entry["name"], entry["parameters"], shared)


def _line(entry: Mapping[str, Any], spec: Mapping[str, Any]) -> str:
    return _written(entry["name"], _special(entry, spec))


def _written(metric: str, parameters: Mapping[str, Any]) -> str:
    """Write a metric with its own parameters as the form reads it."""
    options = ",".join(
        f"{name}={'yes' if value is True else 'no' if value is False else value}" for name, value in parameters.items()
    )
    return f"{metric}:{options}" if options else metric


def _weighs_all_alike(release: Release) -> bool:
    """Return whether no weight differs from another, so that thresholds choose all references or none."""
    ends = release.weights.aggregate(low=Min("weight"), high=Max("weight"))
    return bool(ends["low"] == ends["high"])
