"""One hypothesis that somebody typed, under every metric at once; nothing is stored."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Q

from annotation.models import Dataset, Item, Project, Release, ResponseSource
from metrics.models import TrainedModel
from metrics.scoring.models.language_model import LanguageModel
from metrics.scoring.models.lsa import LsaModel
from metrics.scoring.models.store import ModelStore
from metrics.selectors.explanations import Explanation, Reading, explain, release_rows
from metrics.selectors.playground_parts import Adequacy, Combined, Fluency, adequacy, combined, fluency
from metrics.selectors.playground_scores import Group, Scored, score_groups

# Scripts that put no space between words.
UNSPACED = (
    ("\u0e00", "\u0eff"),
    ("\u1000", "\u109f"),
    ("\u1780", "\u17ff"),
    ("\u3040", "\u30ff"),
    ("\u3400", "\u9fff"),
)


@dataclass(frozen=True)
class TypedText:
    """Equal to another of the same words: a hypothesis that is a reference is told so."""

    text: str
    pk: None = None


@dataclass(frozen=True)
class TypedReference:
    response: TypedText
    weight: float
    is_original: bool = False
    low: None = None


@dataclass(frozen=True)
class Trial:
    """What is to be scored, and how."""

    hypothesis: str
    references: tuple[str, ...]
    weights: tuple[float, ...]
    source: str
    reading: Reading
    k: int
    lm_order: int
    balance: float
    models: Mapping[str, TrainedModel | None]  # by kind
    versus: int | None = None  # number of the reference that AM and FM are told against; the best by default
    asked: str = ""  # the slow metric that was asked for

    def scored(self) -> Scored:
        return Scored(
            self.hypothesis,
            self.references,
            self.weights,
            self.source,
            {
                "max_order": self.reading.max_order,
                "semantics": self.reading.semantics,
                "tokenize": self.reading.tokenize,
                "lowercase": self.reading.lowercase,
                "case_sensitive": not self.reading.lowercase,
                "k": self.k,
                "balance": self.balance,
            },
            self.lm_order,
            {kind: model.reference for kind, model in self.models.items() if model},
            self.asked,
        )


@dataclass(frozen=True)
class Played:
    trial: Trial
    explanation: Explanation
    adequacy: Adequacy
    fluency: Fluency
    am_fm: Combined | None
    groups: list[Group]
    lacks_spaces: bool


def play(trial: Trial, models: ModelStore) -> Played:
    """Every number there is of these texts."""
    rows = [
        TypedReference(TypedText(text), weight) for text, weight in zip(trial.references, trial.weights, strict=True)
    ]
    explanation = explain([(["Hypothesis"], TypedText(trial.hypothesis))], rows, trial.reading)
    versus = trial.versus if trial.versus is not None and 1 <= trial.versus <= len(rows) else None
    near = adequacy(trial.models[LsaModel.kind], models, trial.hypothesis, trial.references, trial.k, versus)
    fluent = fluency(
        trial.models[LanguageModel.kind], models, trial.hypothesis, trial.references, trial.lm_order, versus
    )
    return Played(
        trial,
        explanation,
        near,
        fluent,
        combined(near, fluent, trial.balance),
        score_groups(trial.scored(), models),
        trial.reading.tokenize in ("whitespace", "none")
        and any(_lacks_spaces(text) for text in (trial.hypothesis, *trial.references)),
    )


def _lacks_spaces(text: str) -> bool:
    unspaced = sum(any(low <= character <= high for low, high in UNSPACED) for character in text)
    return unspaced > 3 * len(text.split())


# --- From what is stored ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stored:
    """What a link from a page brings along."""

    dataset: Dataset
    hypothesis: str
    references: list[tuple[str, float]]
    left_out: int
    source: str
    told: str


def stored_trial(project: Project, query: Mapping[str, int | None], *, most: int) -> Stored | None:
    """An item, what was answered to it (a system's output, or a response), and a release's references, best first.

    None where the project has no such item.
    """
    item = Item.objects.filter(dataset__project=project, pk=query["item"] or 0).select_related("dataset").first()
    if item is None:
        return None
    sources = ResponseSource.objects.filter(item=item).select_related("response", "system")
    of_system = Q(system=query["system"], system__isnull=False)
    source = sources.filter(of_system | Q(response=query["response"])).order_by("system__name").first()
    release = Release.objects.filter(pk=query["release"] or 0, reference_set__dataset=item.dataset_id).first()
    rows = release_rows(release, item) if release else []
    told = f"Item {item.position + 1} of {item.dataset}"
    if source and source.system:
        told = f"{source.system}’s output for item {item.position + 1} of {item.dataset}"
    return Stored(
        item.dataset,
        source.response.text if source else "",
        [(row.response.text, row.weight) for row in rows[:most]],
        max(0, len(rows) - most),
        item.message,
        f"{told}, and the references of {release}" if release else told,
    )
