"""Forms of a new score run and of how n-grams are counted."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django import forms

from annotation.core.forms import Form, RefusableForm, offer_choices, offer_rows
from annotation.models import Dataset, Release, SourceKind, System
from annotation.references.sets.selectors import reasons_not_to_score
from metrics.models import TrainedModel
from metrics.scoring.metric import Metric
from metrics.scoring.parameters import Parameter
from metrics.scoring.registry import METRICS, without_references
from metrics.scoring.statistics import SEMANTICS
from metrics.scoring.texts import TOKENIZERS
from metrics.scoring.written import TRUE
from metrics.selectors.catalogue import Entry, default_parameters, usual_metrics
from metrics.selectors.corpus import plain_kinds, reference_counts
from metrics.selectors.discouraged import GOOD, bad_references_warning
from metrics.selectors.explanations import Reading
from metrics.selectors.models import model_choices
from metrics.selectors.scripts import proposed_tokenizer
from metrics.selectors.usual import usual_settings_on
from metrics.subsets import Subset

TOKENIZER_NAMES = {
    "whitespace": "Whitespace: punctuation stays at its word",
    "13a": "13a (WMT): punctuation apart",
    "intl": "International",
    "char": "Characters",
    "zh": "Chinese",
    "none": "None: texts are tokens already, split at spaces alone",
}
NO_BREAK = "\N{NON-BREAKING HYPHEN}"
MANY_DIGITS = 1e6  # from here on a bound is written with commas
ITEM_CHOICES = [
    ("referenced", "All that have a reference in the release"),
    ("positive", "Those with a reference of positive weight"),
]


class SubsetField(forms.CharField):
    """A reference subset such as ``w>=0.6``."""

    def __init__(self, **options: Any) -> None:
        help_text = (
            "<code>all</code>, <code>original</code>, or a threshold such as <code>w>0</code>, <code>w>=0.6</code>"
        )
        super().__init__(**{"help_text": help_text, "initial": "all", "label": "References"} | options)

    def clean(self, value: Any) -> Subset:
        try:
            return Subset.parse(super().clean(value))
        except ValueError as error:
            raise forms.ValidationError(str(error).removeprefix("subset: ").capitalize()) from error


def parameter_field(parameter: Parameter, models: Sequence[TrainedModel] = ()) -> forms.Field:
    """Return the input of a metric's or a model's parameter; ``models`` are those of its kind."""
    common: dict[str, Any] = {"label": parameter.label, "help_text": parameter.hint, "initial": parameter.default}
    match parameter.kind:
        case "flag":
            return forms.BooleanField(required=False, **common)
        case "choice":
            labels = TOKENIZER_NAMES if parameter.name == "tokenize" else {}
            choices = [(name, labels.get(name, name)) for name in parameter.choices]
            if parameter.optional:
                choices.insert(0, ("", "Default"))
            return forms.TypedChoiceField(choices=choices, required=not parameter.optional, empty_value=None, **common)
        case "model":
            return forms.ChoiceField(choices=model_choices(models), **common)
        case "text":
            return forms.CharField(required=False, **common)
    bounds = {
        name: None if math.isinf(bound) else bound
        for name, bound in (("min_value", parameter.low), ("max_value", parameter.high))
    }
    number: Callable[..., forms.Field] = forms.IntegerField if parameter.kind == "whole" else forms.FloatField
    if bounds["min_value"] is not None and bounds["max_value"] is not None:
        ends = " to ".join(
            f"{end:,.0f}" if abs(end) >= MANY_DIGITS else f"{end:g}" for end in (parameter.low, parameter.high)
        )
        common["help_text"] = " ".join(filter(None, (parameter.hint, f"{ends}.")))
    messages = dict.fromkeys(("min_value", "max_value", "invalid"), f"Accepted: {parameter.accepted}.")
    return number(required=not parameter.optional, error_messages=messages, **bounds, **common)


class SystemsField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg] # it takes none when it runs
    """Systems, some with a reason against scoring them."""

    notes: Mapping[str, str] = {}

    def label_from_instance(self, system: System) -> str:
        note = self.notes.get(system.name)
        return f"{system} ({note})" if note else str(system)


class PlainReferencesField(forms.MultipleChoiceField):
    """Which of a data set's own references count, by their kind of source: a `Subset`."""

    def __init__(self, counts: Mapping[str, int], **options: Any) -> None:
        super().__init__(
            choices=[(kind, f"{SourceKind(kind).label} ({n:,})") for kind, n in counts.items()],
            widget=forms.CheckboxSelectMultiple,
            initial=people_wrote(counts),
            label="References",
            help_text="All count alike: weights come from a release.",
            error_messages={"required": "Choose at least one kind."},
            **options,
        )

    def clean(self, value: Any) -> Subset:
        return Subset("sources", sources=tuple(sorted(super().clean(value))))


def people_wrote(kinds: Collection[str]) -> list[str]:
    """Return the kinds of reference that people wrote, or if there are none those that may be good, or else all."""
    wrote, bad = (SourceKind.SEED, SourceKind.HUMAN), (SourceKind.RANDOM, SourceKind.PARROT)
    return [kind for kind in kinds if kind in wrote] or [kind for kind in kinds if kind not in bad] or list(kinds)


class TextsForm(RefusableForm):
    """Which systems are scored, and with which references of a release or of the data set itself."""

    systems = SystemsField(
        queryset=System.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one system."},
    )
    subset = SubsetField()
    items = forms.ChoiceField(choices=ITEM_CHOICES, widget=forms.RadioSelect, initial="referenced")

    def __init__(
        self,
        *args: Any,
        dataset: Dataset,
        release: Release | None = None,
        reads_references: bool = True,
        reads_weights: bool = False,
        is_one: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.release = release
        self.warning = ""  # against all references
        systems = dataset.systems.all()
        self.notes = reasons_not_to_score(dataset, release.reference_set if release else None)
        self.fields["systems"].notes = self.notes  # type: ignore[attr-defined] # it is a SystemsField
        offer_rows(self, "systems", systems)
        self.initial["systems"] = [system.pk for system in systems if system.name not in self.notes]
        self.reference_counts = reference_counts(dataset) if release is None and reads_references else {}
        if len(self.reference_counts) > 1:
            self.fields["subset"] = PlainReferencesField(self.reference_counts)
        elif release is None or not reads_references:
            del self.fields["subset"]
        if release is None:
            del self.fields["items"]
        elif reads_references and not reads_weights:
            self.warning = bad_references_warning(release, one_metric=is_one)
            if self.warning and is_one:
                self.fields["subset"].help_text = f"{self.fields['subset'].help_text}. {self.warning}"
                self.initial["subset"] = GOOD

    def texts(self) -> dict[str, Any]:
        """Return the arguments of services that choose texts."""
        data = self.cleaned_data
        subset = replace(data.get("subset", Subset()), items=data.get("items", "referenced"))
        return {"systems": list(data["systems"]), "subset": subset}


class ScoreRunForm(TextsForm):
    """The parameters of a metric over chosen texts; ``values`` fill it in."""

    def __init__(
        self,
        *args: Any,
        metric: type[Metric],
        dataset: Dataset,
        release: Release | None = None,
        models: Mapping[str, Sequence[TrainedModel]] | None = None,
        values: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        reads = {"reads_references": metric.needs_references, "reads_weights": metric().needs_weights}
        super().__init__(*args, dataset=dataset, release=release, is_one=True, **reads, **kwargs)
        self.metric = metric
        defaults = default_parameters(metric, proposed_tokenizer(dataset), plain=bool(self.reference_counts))
        self.names = {parameter.name: self._free_name(parameter.name) for parameter in metric.parameter_list()}
        for parameter in metric.parameter_list():
            name = self.names[parameter.name]
            if parameter.kind == "model":
                self.fields[name] = parameter_field(parameter, (models or {}).get(parameter.choices[0], ()))
            else:
                self.fields[name] = parameter_field(parameter)
                self.initial[name] = defaults[parameter.name]
        if not self.is_bound:
            self._prefill(values or {})

    def _free_name(self, parameter: str) -> str:
        """Return a name for the input: another package's parameter may have the name of one of this form's inputs."""
        return f"parameter_{parameter}" if parameter in self.fields else parameter

    def _prefill(self, values: Mapping[str, str]) -> None:
        for name in set(self.fields) & set(values) - {"systems"}:
            field = self.fields[name]
            if isinstance(field, PlainReferencesField):
                self.initial[name] = self._plain_kinds(values[name])
            else:
                is_flag = isinstance(field, forms.BooleanField)
                self.initial[name] = values[name].lower() in TRUE if is_flag else values[name]

    def _plain_kinds(self, text: str) -> list[str]:
        """Return the kinds of reference that an address names; the usual ones if it names none."""
        try:
            chosen = plain_kinds(Subset.parse(text, sources=SourceKind.of_references()))
        except ValueError:
            return people_wrote(self.reference_counts)
        return [kind for kind in chosen if kind in self.reference_counts] or people_wrote(self.reference_counts)

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``score_run_create``."""
        return self.texts() | {
            "metric": self.metric.name,
            "parameters": {name: self.cleaned_data[field] for name, field in self.names.items()},
        }

    def input_of(self, path: str) -> tuple[forms.Form, str | None]:
        return super().input_of(self.names.get(path, path))


class ScoreRunsForm(TextsForm):
    """Several metrics with their usual parameters over the same texts."""

    metrics = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one metric."},
    )
    subset_unweighted = SubsetField(label="References of metrics that read no weights", initial=GOOD)

    def __init__(self, *args: Any, entries: Sequence[Entry], dataset: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, dataset=dataset, **kwargs)
        self.dataset = dataset
        if self.warning:
            self.fields["subset"].label = "References of ΔBLEU"
            self.fields["subset_unweighted"].help_text = self.warning
        else:
            del self.fields["subset_unweighted"]
        offer_choices(self, "metrics", [(entry.name, entry.metric.label) for entry in entries if not entry.missing])
        self.initial["metrics"] = usual_metrics(entries)

    @property
    def settings_note(self) -> str:
        """Return in words with which settings the offered metrics are computed, whichever are ticked."""
        usual = usual_settings_on(self.dataset, weighted=self.release is not None)
        names = [name for name, _ in self.fields["metrics"].choices]  # type: ignore[attr-defined]
        sentence = usual.sentence(names)
        return f"{sentence[:1].upper()}{sentence[1:]}."

    @property
    def settings_shown(self) -> str:
        """Return the note with names that stay on one line."""
        text = self.settings_note
        for _, label in self.fields["metrics"].choices:  # type: ignore[attr-defined]
            text = text.replace(label, label.replace("-", NO_BREAK))
        return text

    @property
    def chosen(self) -> set[str]:
        """Return the metrics that are ticked."""
        return set(self["metrics"].value() or ())

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``score_runs_request``."""
        tokenize, plain = proposed_tokenizer(self.dataset), bool(self.reference_counts)
        parameters = {
            name: default_parameters(METRICS[name], tokenize, plain=plain) for name in self.cleaned_data["metrics"]
        }
        if not plain and self.release is None:
            parameters = {name: values | without_references(METRICS[name]) for name, values in parameters.items()}
        arguments = self.texts() | {"metrics": list(parameters.items())}
        if "subset_unweighted" in self.cleaned_data:
            items = arguments["subset"].items
            arguments["subset_unweighted"] = replace(self.cleaned_data["subset_unweighted"], items=items)
        return arguments


class ReadingForm(Form):
    """How an explanation counts n-grams, as its address says; the rest has its defaults."""

    order = forms.TypedChoiceField(
        label="Longest n-gram", coerce=int, choices=[(order, str(order)) for order in range(1, 5)], initial=2
    )
    semantics = forms.ChoiceField(
        label="ΔBLEU's formula", choices=[(name, name) for name in SEMANTICS], initial=SEMANTICS[0]
    )
    refs = SubsetField()
    tokenize = forms.ChoiceField(
        label="Tokeniser", choices=[(name, TOKENIZER_NAMES.get(name, name)) for name in TOKENIZERS]
    )
    case = forms.ChoiceField(
        label="Capitals", choices=[("lower", "Lowercase first"), ("kept", "Kept")], initial="lower"
    )

    def __init__(self, query: Mapping[str, str], *, dataset: Dataset) -> None:
        self.default = Reading(tokenize=proposed_tokenizer(dataset))
        fields = self.base_fields
        defaults = {name: fields[name].initial for name in fields} | {"tokenize": self.default.tokenize}
        super().__init__(defaults | {name: query[name] for name in fields if query.get(name)})

    def reading(self) -> Reading:
        """Return the chosen reading; the default if the input is invalid."""
        if not self.is_valid():
            return self.default
        data = self.cleaned_data
        return Reading(data["order"], data["semantics"], data["tokenize"], data["case"] == "lower", data["refs"])
