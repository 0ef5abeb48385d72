"""The form of the playground: a hypothesis, weighted references, and settings."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict

from annotation.core.forms import Form
from metrics.forms.runs import TOKENIZER_NAMES
from metrics.models import ScoreRun, TrainedModel
from metrics.scoring.am_fm import AmFm
from metrics.scoring.fm import Fm
from metrics.scoring.models.kinds import KINDS
from metrics.scoring.models.language_model import MAX_ORDER
from metrics.scoring.models.lsa import MAX_COMPONENTS
from metrics.scoring.statistics import SEMANTICS
from metrics.scoring.texts import tokenize_texts
from metrics.selectors.explanations import Reading
from metrics.selectors.models import models_of_run
from metrics.selectors.playground_scores import Trial

MOST_WORDS = 2000
MOST_WORDS_TOGETHER = 2000  # in the hypothesis and its references: a request then takes up to two seconds
MOST_CHARACTERS = 20_000
MOST_REFERENCES = 20
LONGEST_QUERY = 3500  # servers take about 4,000 characters of an address

NUMBERS = {"am": ("k",), "fm": ("n", "balance")}  # of the metrics that read the model chosen in this field
FORMULA_NAMES = {"galley2015": "The paper’s (galley2015)", "sacrebleu2018": "The later code’s (sacrebleu2018)"}


# Parameters of metrics and the inputs for them.
RUN_SETTINGS = {"max_order": "order", "semantics": "semantics", "tokenize": "tokenize", "k": "k", "balance": "balance"}


def run_settings(run: ScoreRun) -> dict[str, str]:
    """Return the inputs with which the playground scores as the run did, as far as it has them."""
    values = {field: str(run.parameters[name]) for name, field in RUN_SETTINGS.items() if name in run.parameters}
    if "lowercase" in run.parameters:
        values["case"] = "lower" if run.parameters["lowercase"] else "kept"
    if run.metric in (Fm.name, AmFm.name):
        values["n"] = str(run.parameters["order"])
    chosen = {KINDS[parameter.choices[0]].field: model for parameter, model in models_of_run(run)}
    return values | {field: str(model.pk) for field, model in chosen.items() if field and model}


def _text_field(label: str, rows: int, **options: Any) -> forms.CharField:
    attributes = {"rows": rows, "dir": "auto", "spellcheck": "false", "autocomplete": "off"}
    return forms.CharField(label=label, required=False, widget=forms.Textarea(attrs=attributes), **options)


@dataclass
class Row:
    """A typed reference; an empty one does not count."""

    number: int
    text: str = ""
    weight: str = "1"
    text_errors: list[str] = field(default_factory=list)
    weight_errors: list[str] = field(default_factory=list)
    is_new: bool = False

    @property
    def is_used(self) -> bool:
        return bool(self.text.strip())

    @property
    def counts_as_one(self) -> bool:
        return self.is_used and not self.weight.strip()

    @property
    def value(self) -> float:
        """Return the weight, 1 for an empty one; ValueError if it is not from -1 to 1."""
        value = float(self.weight.strip().replace("−", "-") or "1")
        if not -1 <= value <= 1:
            raise ValueError(self.weight)
        return value + 0.0  # no -0.0


class PlaygroundForm(Form):
    """Its data come from an address or a POST; missing values have their defaults."""

    h = _text_field("Output", 3)
    s = _text_field("Message answered", 2, help_text="iBLEU and the quality estimate use it.")
    order = forms.TypedChoiceField(
        label="n-grams up to", coerce=int, choices=[(order, str(order)) for order in range(1, 5)], initial=2
    )
    semantics = forms.ChoiceField(
        label="ΔBLEU’s formula", choices=[(name, FORMULA_NAMES[name]) for name in SEMANTICS], initial=SEMANTICS[0]
    )
    tokenize = forms.ChoiceField(label="Tokeniser", choices=list(TOKENIZER_NAMES.items()), initial="whitespace")
    case = forms.ChoiceField(
        label="Capitals", choices=[("lower", "Lowercase first"), ("kept", "Kept")], initial="lower"
    )
    k = forms.IntegerField(label="k, its dimensions", min_value=1, max_value=MAX_COMPONENTS, initial=10)
    n = forms.IntegerField(label="n, its longest n-gram", min_value=1, max_value=MAX_ORDER, initial=2)
    balance = forms.FloatField(
        label="λ, the share of AM",
        min_value=0,
        max_value=1,
        initial=0.8,
        widget=forms.NumberInput(attrs={"step": "0.05"}),
    )

    texts = ("h", "s")
    ngram_fields = ("order", "semantics", "tokenize", "case")
    model_kinds = tuple(kind for kind in KINDS.values() if kind.field)
    model_fields = tuple(name for kind in model_kinds for name in (kind.field, *NUMBERS.get(kind.field, ())))

    def __init__(self, data: QueryDict, *, models: Sequence[TrainedModel]) -> None:
        self.models: dict[str, list[TrainedModel]] = {}
        for model in models:
            self.models.setdefault(model.kind, []).append(model)
        super().__init__()
        for kind in self.model_kinds:
            offered = self.models.get(kind.name, [])
            self.fields[kind.field] = forms.TypedChoiceField(
                label=kind.label[0].upper() + kind.label[1:],
                coerce=int,
                required=False,
                empty_value=None,
                choices=[(model.pk, str(model)) for model in offered],
                initial=offered[0].pk if offered else "",
            )
        self.order_fields([*self.texts, *self.ngram_fields, *self.model_fields])
        self.defaults = {name: each.initial for name, each in self.fields.items() if each.initial is not None}
        values = {name: data[name] for name in self.fields if data.get(name)}
        self.data, self.is_bound = {**self.defaults, **values}, True
        for name, each in self.fields.items():
            each.widget.attrs["aria-describedby"] = f"{name}-errors"
        texts, weights = data.getlist("r"), data.getlist("w")
        self.rows = [
            Row(number, text, weights[number - 1] if number <= len(weights) else "1")
            for number, text in enumerate(texts[: MOST_REFERENCES + 1], start=1)
        ] or [Row(1)]
        self.n_sent = len(texts)
        self.versus = data.get("choose") or data.get("versus", "")

    # --- Rows ---------------------------------------------------------------------------------------------------------

    @property
    def most_references(self) -> int:
        return MOST_REFERENCES

    @property
    def may_add(self) -> bool:
        return len(self.rows) < MOST_REFERENCES

    def add_row(self) -> None:
        if self.may_add:
            self.rows.append(Row(len(self.rows) + 1, is_new=True))

    def remove_row(self, number: str) -> None:
        rows = [row for row in self.rows if str(row.number) != number] or [Row(1)]
        index = min(int(number), len(rows)) - 1 if number.isdecimal() and len(number) < 4 else 0
        rows[max(index, 0)].is_new = True
        for position, row in enumerate(rows, start=1):
            row.number = position
        self.rows, self.n_sent = rows, len(rows)
        self.versus = ""

    # --- Checks -------------------------------------------------------------------------------------------------------

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        tokenize = data.get("tokenize", "whitespace")
        for name in self.texts:
            if reason := too_long(data.get(name, ""), tokenize):
                self.add_error(name, reason)
        for row in self.rows:
            row.text_errors, row.weight_errors = _row_errors(row, tokenize)
            if row.text_errors or row.weight_errors:
                self.add_error(None, f"Reference {row.number} cannot be read: see its errors.")
        texts = [data.get("h", ""), *(row.text for row in self.rows)]
        total = sum(n_words(text, tokenize) for text in texts if len(text) <= MOST_CHARACTERS)
        if total > MOST_WORDS_TOGETHER:
            self.add_error(None, f"Found {total:,} words in all texts; accepted: up to {MOST_WORDS_TOGETHER:,}.")
        if self.n_sent > MOST_REFERENCES:
            self.add_error(None, f"Found {self.n_sent} references; accepted: up to {MOST_REFERENCES}.")
        self._check_against_models(data)
        return data

    def _check_against_models(self, data: dict[str, Any]) -> None:
        for name, number, fact in (("am", "k", "dimensions"), ("fm", "n", "order")):
            model, requested = self._chosen(name), data.get(number)
            most = model.report.get("model", {}).get(fact) if model else None
            if requested and most and requested > most:
                if str(self.data[number]) == str(self.defaults[number]):
                    data[number] = most
                else:
                    self.add_error(number, f"Found {requested}; accepted: 1 to {most}, as “{model}” has.")

    def _chosen(self, field: str) -> TrainedModel | None:
        pk = self.cleaned_data.get(field)
        return next((model for models in self.models.values() for model in models if model.pk == pk), None)

    def _newest(self, kind: str) -> TrainedModel | None:
        return next(iter(self.models.get(kind, [])), None)

    # --- Values -------------------------------------------------------------------------------------------------------

    @property
    def is_blank(self) -> bool:
        return not (self.data.get("h") or self.data.get("s") or any(row.is_used for row in self.rows))

    def trial(self, *, requested: str = "") -> Trial:
        """Return the texts and settings of a valid form."""
        data = self.cleaned_data
        used = [row for row in self.rows if row.is_used]
        return Trial(
            data["h"],
            tuple(row.text for row in used),
            tuple(row.value for row in used),
            data["s"],
            Reading(data["order"], data["semantics"], data["tokenize"], data["case"] == "lower"),
            data["k"],
            data["n"],
            data["balance"],
            {name: self._chosen(kind.field) if kind.field else self._newest(name) for name, kind in KINDS.items()},
            int(self.versus) if self.versus.isdecimal() and len(self.versus) < 4 else None,
            requested,
        )

    def query(self) -> str:
        """Return the query of an address without default values; empty if it would be too long."""
        pairs: list[tuple[str, object]] = [
            (name, self.data[name])
            for name in self.fields
            if self.data.get(name) and str(self.data[name]) != str(self.defaults.get(name, ""))
        ]
        used = [row for row in self.rows if row.is_used]
        pairs += [("r", row.text) for row in used]
        if any(row.weight != "1" for row in used):
            pairs += [("w", row.weight) for row in used]
        if self.versus:
            pairs.append(("versus", self.versus))
        written = urlencode(pairs)
        return written if len(written) <= LONGEST_QUERY else ""


def _row_errors(row: Row, tokenize: str) -> tuple[list[str], list[str]]:
    length_error = too_long(row.text, tokenize)
    try:
        _ = row.value
    except ValueError:
        return ([length_error] if length_error else []), [
            f"Found “{row.weight[:20]}”; accepted: a number from −1 to 1."
        ]
    return ([length_error] if length_error else []), []


def too_long(text: str, tokenize: str) -> str:
    """Return why a text is not accepted; empty if it is."""
    if "\0" in text:
        return "Found a null character; accepted: text without."
    if len(text) > MOST_CHARACTERS:
        return f"Found {len(text):,} characters; accepted: up to {MOST_CHARACTERS:,}."
    found = n_words(text, tokenize)
    return f"Found {found:,} words; accepted: up to {MOST_WORDS:,}." if found > MOST_WORDS else ""


def n_words(text: str, tokenize: str) -> int:
    """Count words as the tokeniser separates them; between spaces, if there are too many anyway."""
    between_spaces = len(text.split())
    if between_spaces <= MOST_WORDS and tokenize in TOKENIZER_NAMES and text.strip():
        return max(map(len, tokenize_texts([text], tokenize=tokenize)))
    return between_spaces
