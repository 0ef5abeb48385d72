"""The forms of a parameter study: first the metric, then the fields of its parameters."""

from collections.abc import Iterable
from typing import Any

from django import forms

from annotation.core.forms import Form, offer_choices
from annotation.models import Dataset, Item, Release
from correlations.forms.base import StudyBaseForm
from correlations.forms.metric_entries import subsets_of
from correlations.parameter_specification import MAX_SWEEPS, NUMBERS, SUBSET, read_values, usual_values
from correlations.selectors.metrics import offered_metrics
from correlations.stats.coefficients.registry import COEFFICIENTS
from metrics.scoring.metric import Metric
from metrics.scoring.parameters import Parameter
from metrics.scoring.registry import METRICS, get_metric
from metrics.selectors.models import beyond_limit, beyond_words, finished_models, model_choices, model_limits
from metrics.selectors.usual import usual_settings_on

IN_USE, SWEEP = "own_", "sweep_"  # before a parameter's name, in the names of fields
# Parameters whose values to try are filled in at first; the others begin empty.
FIRST = ("k", "order", "balance", "max_order", "beta", "alpha", "sigma", "char_order")


class MetricStepForm(Form):
    """The first step: the metric whose parameters vary. It is a part of the page's address."""

    metric = forms.ChoiceField(label="Metric")

    def __init__(self, *args: Any, dataset: Dataset, release: Release | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offered = offered_metrics(dataset.project, dataset, pools=True, weighted=release is not None)
        self.groups = [
            (group, [(each.value, each.label) for each in choices])
            for group, group_metrics in offered.items()
            if (choices := [each for each in group_metrics if not each.missing and each.value in METRICS])
        ]
        offer_choices(self, "metric", self.groups)

    def chosen(self) -> str:
        """Return the chosen metric; by default AM-FM if it can be computed, else the first that can."""
        if self.is_bound and self.is_valid():
            return str(self.cleaned_data["metric"])
        names = [value for _, choices in self.groups for value, _ in choices]
        return "am_fm" if "am_fm" in names else names[0]


class ParameterStudyForm(StudyBaseForm):
    """For each parameter of the metric, the value in use and the values to try."""

    subset = forms.CharField(
        label="References", initial="all", help_text="<code>all</code>, <code>original</code> or <code>w>0</code>"
    )
    sweep_subset = forms.CharField(
        label="References: values",
        required=False,
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off"}),
        help_text="To try instead, such as <code>original, w>0, w>=0.6</code>.",
    )
    coefficient = forms.ChoiceField(
        label="The best value is that of the highest",
        choices=[(entry.key, entry.label) for entry in COEFFICIENTS.values()],
        help_text="Over systems.",
    )
    choose_on = forms.ChoiceField(label="Choose the best value on", required=False)
    judge_on = forms.ChoiceField(label="and judge it on", required=False)
    bootstrap = forms.IntegerField(
        label="Bootstrap replicates", initial=500, min_value=0, max_value=10_000, help_text="0: no intervals."
    )
    halves = forms.IntegerField(
        label="Random halves",
        initial=200,
        min_value=0,
        max_value=5000,
        help_text="To see what choosing the best value is worth on items that had no say in it.",
    )
    seed = forms.IntegerField(
        label="Seed of the random numbers",
        initial=20190501,
        min_value=0,
        help_text="The same seed gives the same random choices.",
    )

    MAIN = ("name", "campaigns", "criteria", "systems", "subset", "sweep_subset")
    DESIGN = ("coefficient", "choose_on", "judge_on", "bootstrap", "halves", "seed")

    def __init__(
        self, *args: Any, dataset: Dataset, metric: str, release: Release | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, dataset=dataset, release=release, **kwargs)
        self.fields["systems"].help_text = "Three at least; the more, the more a coefficient says."
        self.metric: Metric = self._usual_metric(metric)
        self.limits = model_limits(self.project, self.metric.name, self.metric.parameters())
        splits = Item.objects.filter(dataset=dataset).exclude(split="")
        self.splits = sorted(set(splits.order_by().values_list("split", flat=True).distinct()))
        for name in ("choose_on", "judge_on"):
            offer_choices(self, name, [("", "the same items"), *((split, split) for split in self.splits)])
        if not self.metric.needs_references:
            self.fields["subset"].widget = forms.HiddenInput()
        if release is None or not self.metric.needs_references:
            del self.fields["sweep_subset"]
        for parameter in self.metric.parameter_list():
            self._add(parameter)

    def _usual_metric(self, name: str) -> Metric:
        return get_metric(name, **usual_settings_on(self.dataset, weighted=self.release is not None).parameters(name))

    def _add(self, parameter: Parameter) -> None:
        in_use = getattr(self.metric, parameter.name)
        self.fields[IN_USE + parameter.name] = field = self._field_in_use(parameter, in_use)
        field.help_text = parameter.hint
        first = parameter.kind in NUMBERS and parameter.name in FIRST
        values = usual_values(parameter, self.limits.get(parameter.name)) if first else ()
        self.fields[SWEEP + parameter.name] = forms.CharField(
            label=f"{parameter.label}: values",
            required=False,
            initial=", ".join(parameter.written(value) for value in values),
            widget=forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off"}),
            help_text=self._example(parameter),
        )

    def _field_in_use(self, parameter: Parameter, in_use: Any) -> forms.Field:
        if parameter.kind == "model":
            models = finished_models(self.project, parameter.choices[0])
            return forms.ChoiceField(label=parameter.label, choices=model_choices(models))
        if parameter.kind == "choice":
            choices = [(value, value) for value in parameter.choices]
            blank = [("", "as the metric has it")] if parameter.optional else []
            return forms.ChoiceField(
                label=parameter.label, choices=blank + choices, initial=in_use, required=not parameter.optional
            )
        if parameter.kind == "flag":
            return forms.BooleanField(label=parameter.label, initial=in_use, required=False)
        if parameter.kind == "whole":
            in_use = min(in_use, self.limits.get(parameter.name, in_use))
            return forms.IntegerField(label=parameter.label, initial=in_use)
        if parameter.kind == "real":
            return forms.FloatField(label=parameter.label, initial=in_use, required=not parameter.optional)
        return forms.CharField(label=parameter.label, initial=in_use, required=False)

    def _example(self, parameter: Parameter) -> str:
        if parameter.kind == "whole":
            most = f", at most {self.limits[parameter.name]}" if parameter.name in self.limits else ""
            return f"Such as <code>1, 2, 5..10</code>{most}."
        if parameter.kind == "real":
            return "Such as <code>0..1 by 0.1</code>."
        if parameter.kind == "model":
            return "Names of trained models, such as <code>my-space/v1, other/v2</code>."
        return f"Of <code>{', '.join(parameter.choices) or 'yes, no'}</code>."

    @property
    def design_fields(self) -> list[forms.BoundField]:
        hidden = () if self.splits else ("choose_on", "judge_on")
        return [self[name] for name in self.DESIGN if name not in hidden]

    @property
    def parameter_rows(self) -> list[tuple[forms.BoundField, forms.BoundField]]:
        """Return, for each parameter, the field of the value in use and that of the values to try."""
        names = [parameter.name for parameter in self.metric.parameter_list()]
        return [(self[IN_USE + name], self[SWEEP + name]) for name in names]

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        self.sweeps: list[dict[str, Any]] = []
        limits = self._chosen_limits()
        for parameter in self.metric.parameter_list():
            written = self.cleaned_data.get(SWEEP + parameter.name, "").strip()
            if not written:
                continue
            try:
                values = read_values(parameter, written)
                if parameter.kind != "model":
                    for value in values:
                        parameter.check(value)
            except ValueError as error:
                self.add_error(SWEEP + parameter.name, str(error).removeprefix(f"{parameter.name}: "))
                continue
            self._check_limit(SWEEP + parameter.name, values, limits.get(parameter.name))
            self.sweeps.append({"parameter": parameter.name, "values": list(values)})
        if subsets := subsets_of(self.cleaned_data.get("sweep_subset", "")):
            self.sweeps.append({"parameter": SUBSET.name, "values": subsets})
        if not self.sweeps and not self.errors:
            raise forms.ValidationError("No parameter has values to try: fill in the values of at least one.")
        if len(self.sweeps) > MAX_SWEEPS:
            raise forms.ValidationError(
                f"{len(self.sweeps)} parameters have values to try; accepted: up to {MAX_SWEEPS}."
            )
        return cleaned

    def _chosen_limits(self) -> dict[str, int]:
        """Return the maxima of the chosen models, and check the values in use against them."""
        names = [parameter.name for parameter in self.metric.parameter_list()]
        in_use = {name: self.cleaned_data.get(IN_USE + name) or "" for name in names}
        limits = model_limits(self.project, self.metric.name, in_use)
        for name, most in limits.items():
            self._check_limit(IN_USE + name, (in_use[name],), most)
        return limits

    def _check_limit(self, field: str, values: Iterable[Any], most: int | None) -> None:
        beyond = beyond_limit(values, most)
        if beyond is not None and most is not None:
            self.add_error(field, beyond_words(beyond, most))

    def specification(self) -> dict[str, Any]:
        data = self.cleaned_data
        shown = (*self.MAIN, *self.DESIGN)
        given = {name: data[name] for name in shown if name not in ("name", "sweep_subset") and name in data}
        parameters = {}
        for parameter in self.metric.parameter_list():
            value = data[IN_USE + parameter.name]
            parameters[parameter.name] = None if value == "" and parameter.optional else value
        return given | {
            "release": self.release_name,
            "metric": {"name": self.metric.name, "parameters": parameters},
            "sweeps": self.sweeps,
        }
