"""Forms for corpora and mining runs."""

import re
from typing import Any

from django import forms
from django.conf import settings
from django.template.defaultfilters import filesizeformat

from annotation.core.forms import Form, RefusableForm, offer_choices, offer_rows
from annotation.core.kept_files import KeptFileForm
from annotation.core.uploads import upload_limit
from annotation.hygiene.steps import languages, primary_language
from annotation.mining.index.parameters import TOKENIZERS, IndexParameters
from annotation.mining.opening import COMPRESSIONS, FORMATS
from annotation.mining.reading import PARTS, TURN_SEPARATOR
from annotation.mining.selectors import CandidateFilter, splits_of
from annotation.mining.specification import MiningSpecification
from annotation.models import CandidateFate, Corpus, Dataset, JobState, SourceKind
from annotation.references.releases.selectors.releases import source_counts
from annotation.seeds.forms import CorpusField
from annotation.seeds.hygiene_forms import HygieneForm

DEFAULT_INDEX = IndexParameters()
DEFAULTS = MiningSpecification()
MAX_BLOCKLIST_CHARACTERS = 200_000
TOKENIZER_LABELS = {
    "words": "Words: runs of letters and digits",
    "characters": "Characters: for scripts without spaces between words",
    "bigrams": "Pairs of characters: likewise, and stricter",
}
NO_SEEDS = {f"kind:{kind}" for kind in (SourceKind.MINED, SourceKind.PARROT, SourceKind.RANDOM)}
KINDS = {SourceKind.MINED: "Mined", SourceKind.PARROT: "Parroted message", SourceKind.RANDOM: "Random"}


def _source_choices(dataset: Dataset) -> list[tuple[str, str]]:
    return [
        (f"system:{system}" if system else f"kind:{kind}", f"{system or SourceKind(kind).label} ({count:,})")
        for kind, system, count in source_counts(dataset)
    ]


def named(prefix: str, values: list[str]) -> list[str]:
    return [value.removeprefix(f"{prefix}:") for value in values if value.startswith(f"{prefix}:")]


# --- Corpora ----------------------------------------------------------------------------------------------------------


ABOUT = ("language", "licence", "description", "attribution")
INDEX = ("tokenizer", "k1", "b")


class _CorpusForm(RefusableForm):
    """The fields of every corpus: its description, and the parameters of its index."""

    makes = "corpus"
    name = forms.CharField(label="Name of the corpus", max_length=120)
    description = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 2}))
    language = forms.CharField(max_length=20, initial="en", help_text="BCP 47 tag, for example en or pt-BR.")
    licence = forms.CharField(max_length=200, required=False)
    attribution = forms.CharField(required=False, max_length=1000)
    tokenizer = forms.ChoiceField(
        label="Texts are compared by",
        choices=[(name, TOKENIZER_LABELS.get(name, name)) for name in TOKENIZERS],
        initial=DEFAULT_INDEX.tokenizer,
    )
    k1 = forms.FloatField(
        label="BM25 k₁", initial=DEFAULT_INDEX.k1, help_text="How soon repeating a word stops helping; 0 or more."
    )
    b = forms.FloatField(
        label="BM25 b", initial=DEFAULT_INDEX.b, help_text="How much longer texts are marked down, 0 to 1."
    )

    def details(self) -> dict[str, str]:
        return {name: self.cleaned_data[name] for name in ABOUT}

    def index(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in INDEX}


class CorpusUploadForm(_CorpusForm, KeptFileForm):
    file = forms.FileField(
        label="File",
        widget=forms.FileInput(attrs={"accept": ".jsonl,.ndjson,.tsv,.tab,.parquet,.gz,.zst"}),
        validators=[upload_limit(", or any size by the command import_corpus")],
    )
    file_format = forms.ChoiceField(
        label="Format", choices=[("", "As its content and name tell"), *FORMATS.items()], required=False
    )
    compression = forms.ChoiceField(
        choices=[("auto", "As its content tells"), *COMPRESSIONS.items()], required=False, initial="auto"
    )
    context = forms.CharField(label="Column of the context", required=False, max_length=200, initial="context")
    message = forms.CharField(label="Column of the message", required=False, max_length=200, initial="message")
    response = forms.CharField(label="Column of the response", required=False, max_length=200, initial="response")
    header = forms.BooleanField(
        label="The first line of a TSV names its columns",
        required=False,
        initial=True,
        help_text="If not, name the columns by their numbers, from 1.",
    )
    turn_separator = forms.CharField(
        label="Between turns of a context that is one text", required=False, max_length=20, initial=TURN_SEPARATOR
    )
    field_groups = {
        "main": ("name", "file", "kept", "file_format", "compression"),
        "about": ABOUT,
        "columns": (*PARTS, "turn_separator", "header"),
        "index": INDEX,
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        limit = filesizeformat(settings.UPLOAD_MAX_BYTES)
        self.fields["file"].help_text = (
            f"JSON Lines, TSV or Parquet, perhaps compressed with gzip or Zstandard; up to {limit}. "
            "A larger file is streamed in by the command <code>import_corpus</code>."
        )

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``corpus_upload``."""
        data = self.cleaned_data
        reading = {name: data[name] for name in ("file_format", "header", "turn_separator")}
        compression = None if data["compression"] == "auto" else data["compression"]
        return {
            "name": data["name"],
            "filename": data["file"].name,
            "content": data["file"].read(),
            "options": {**reading, "compression": compression, "columns": self._columns(), "index": self.index()},
            **self.details(),
        }

    def _columns(self) -> dict[str, str | int]:
        """Return the columns with other names than usual; without a header, their numbers."""
        data = self.cleaned_data
        columns = {part: data[part] for part in PARTS if data[part] and data[part] != part}
        if data["header"]:
            return columns
        return {part: int(name) if name.isascii() and name.isdecimal() else name for part, name in columns.items()}

    def input_of(self, path: str) -> tuple[forms.Form, str | None]:
        return super().input_of(path.removeprefix("columns."))


class CorpusFromDatasetForm(_CorpusForm):
    sources = forms.MultipleChoiceField(
        label="Responses",
        widget=forms.CheckboxSelectMultiple,
        help_text="Each becomes a triple with the context and message of its item.",
    )
    field_groups = {"main": ("name", "sources"), "about": ABOUT, "index": INDEX}
    inputs = {"source_kinds": "sources", "source_systems": "sources"}

    def __init__(self, *args: Any, dataset: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_choices(self, "sources", _source_choices(dataset))
        for name in ("language", "licence", "attribution"):
            self.fields[name].initial = getattr(dataset, name)
        self.fields["name"].initial = f"{dataset.name} responses"[:120]

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``corpus_from_dataset``."""
        sources = self.cleaned_data["sources"]
        return {
            "name": self.cleaned_data["name"],
            "source_kinds": named("kind", sources),
            "source_systems": named("system", sources),
            "options": {"index": self.index()},
            **self.details(),
        }


class CorpusSearchForm(Form):
    message = forms.CharField(max_length=2000, widget=forms.TextInput(attrs={"data-search": ""}))
    response = forms.CharField(max_length=2000)


# --- Runs -------------------------------------------------------------------------------------------------------------


class MiningRunForm(HygieneForm):
    """The corpus, the seeds, and the settings of a mining run."""

    corpus = CorpusField(Corpus.objects.none(), empty_label=None)
    seed_source = forms.ChoiceField(
        label="The seed is",
        widget=forms.RadioSelect,
        help_text="The original response: what is found is similar to its message and to it.",
    )
    splits = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None chosen: every item with a seed.",
    )
    n = forms.IntegerField(
        label="Mined responses per seed", initial=DEFAULTS.n, min_value=0, help_text="15 in the paper of ΔBLEU."
    )
    parrot = forms.BooleanField(
        label="Also the message itself, parroted",
        required=False,
        initial=DEFAULTS.parrot,
        help_text="A response that raters should find bad.",
    )
    negatives = forms.IntegerField(
        label="Random responses per seed",
        initial=DEFAULTS.negatives,
        min_value=0,
        help_text="Drawn from anywhere in the corpus; most will be negative references.",
    )
    near_duplicate = forms.FloatField(
        label="Near-duplicate from",
        initial=DEFAULTS.near_duplicate,
        help_text="Share of character triples in common, 0.1 to 1. Near-duplicates are marked, not dropped.",
    )
    alpha = forms.FloatField(
        label="Weight α of the response's similarity", initial=DEFAULTS.alpha, help_text="0 to 1; see docs/mining.md."
    )
    epsilon = forms.FloatField(
        label="Constant ε", initial=DEFAULTS.epsilon, help_text="At 0, message and response must both be similar."
    )
    depth = forms.IntegerField(
        initial=DEFAULTS.depth,
        min_value=1,
        help_text="How many times n the ranking is followed, where duplicates and hygiene take some.",
    )
    seed = forms.IntegerField(
        label="Seed of the random numbers", initial=DEFAULTS.seed, min_value=0, help_text="Of the random responses."
    )
    blocklist = forms.CharField(
        label="Without these words or phrases",
        required=False,
        max_length=MAX_BLOCKLIST_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="One a line, or separated by commas. Whole words, in any case.",
    )
    field_groups = {
        "main": ("corpus", "seed_source", "splits"),
        "numbers": ("n", "negatives", "parrot"),
        "masks": HygieneForm.mask_names,
        "lengths": ("language", "min_tokens", "max_tokens"),
        "hygiene": (*HygieneForm.mask_names, "language", "min_tokens", "max_tokens", "blocklist"),
        "advanced": ("near_duplicate", "alpha", "epsilon", "depth", "seed"),
    }

    def __init__(self, *args: Any, dataset: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        corpora = Corpus.objects.filter(project=dataset.project_id, state=JobState.DONE).defer("content", "report")
        offer_rows(self, "corpus", corpora)
        choices = [(value, label) for value, label in _source_choices(dataset) if value not in NO_SEEDS]
        offer_choices(self, "seed_source", choices)
        values = [value for value, _ in choices]
        self.fields["seed_source"].initial = next(
            (value for value in ("kind:seed", "kind:human", *values) if value in values), None
        )
        if splits := splits_of(dataset):
            offer_choices(self, "splits", [(split, f"{split} ({count:,})") for split, count in splits])
        else:
            del self.fields["splits"]

    def clean_language(self) -> str:
        tag: str = self.cleaned_data["language"].strip()
        if tag and primary_language(tag) not in languages():
            accepted = "a tag that begins with one of " + ", ".join(languages())
            raise forms.ValidationError(f"Found {tag!r}; accepted: {accepted}.")
        return tag

    def steps(self) -> list[dict[str, Any]]:
        phrases = [phrase.strip() for phrase in re.split(r"[,\n]", self.cleaned_data["blocklist"]) if phrase.strip()]
        return super().steps() + ([{"step": "blocklist", "phrases": phrases}] if phrases else [])

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``mining_run_create``."""
        data = self.cleaned_data
        (kind, system) = (named(prefix, [data["seed_source"]]) for prefix in ("kind", "system"))
        names = ("n", "parrot", "negatives", "near_duplicate", "alpha", "epsilon", "depth", "seed")
        return {
            "corpus": data["corpus"],
            "seed_choice": {
                "kind": kind[0] if kind else "",
                "system": system[0] if system else "",
                "splits": data.get("splits", []),
            },
            "specification": {**{name: data[name] for name in names}, "hygiene": self.steps()},
        }

    def input_of(self, path: str) -> tuple[forms.Form, str | None]:
        return super().input_of(self.input_of_step(path))


class CandidateFilterForm(Form):
    """A filter of a run's candidates; every field may be empty."""

    text = forms.CharField(label="Text", required=False, max_length=200)
    fate = forms.ChoiceField(required=False, choices=[("", "Any"), *CandidateFate.choices])
    kind = forms.ChoiceField(required=False, choices=[("", "Any"), *KINDS.items()])
    step = forms.ChoiceField(label="Reason", required=False)
    near = forms.BooleanField(label="Only near-duplicates", required=False)
    fewer = forms.BooleanField(label="Only seeds with too few", required=False)

    def __init__(self, *args: Any, steps: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_choices(self, "step", [("", "Any"), *((name, step_label(name)) for name in steps)])
        self.fields["text"].widget.attrs["data-search"] = ""

    def chosen(self) -> CandidateFilter:
        return CandidateFilter(**self.cleaned_data)


STEP_LABELS = {
    "mask_urls": "Addresses of pages masked",
    "mask_emails": "E-mail addresses masked",
    "mask_handles": "Account names masked",
    "language": "Language",
    "length": "Length",
    "blocklist": "Blocklist",
    "duplicate": "Same as another text",
}


def step_label(name: str) -> str:
    return STEP_LABELS.get(name, name.replace("_", " ").capitalize())
