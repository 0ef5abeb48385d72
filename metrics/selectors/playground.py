"""A typed hypothesis under every metric at once; nothing is stored."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Q

from annotation.models import Dataset, Item, Project, Release, ResponseSource
from metrics.scoring.models.language_model import LanguageModel
from metrics.scoring.models.lsa import LsaModel
from metrics.scoring.models.store import ModelStore
from metrics.scoring.scripts import Script, script_of
from metrics.selectors.explanations import Explanation, explain, release_rows
from metrics.selectors.ngrams import TypedReference, TypedText
from metrics.selectors.playground_parts import Adequacy, Combined, Fluency, adequacy, combined, fluency
from metrics.selectors.playground_scores import Group, Trial, score_groups


@dataclass(frozen=True)
class PlaygroundResult:
    trial: Trial
    explanation: Explanation
    adequacy: Adequacy
    fluency: Fluency
    am_fm: Combined | None
    groups: list[Group]
    script: Script | None  # of the texts, if the tokeniser does not separate its words or marks


def play(trial: Trial, models: ModelStore) -> PlaygroundResult:
    """Compute all scores of these texts, and what they are made of."""
    rows = [
        TypedReference(TypedText(text), weight) for text, weight in zip(trial.references, trial.weights, strict=True)
    ]
    explanation = explain([(["Hypothesis"], TypedText(trial.hypothesis))], rows, trial.reading)
    versus = trial.versus if trial.versus is not None and 1 <= trial.versus <= len(rows) else None
    texts = trial.hypothesis, trial.references
    am = adequacy(trial.models[LsaModel.kind], models, *texts, trial.k, versus)
    fm = fluency(trial.models[LanguageModel.kind], models, *texts, trial.lm_order, versus)
    return PlaygroundResult(
        trial,
        explanation,
        am,
        fm,
        combined(am, fm, trial.balance),
        score_groups(trial, models),
        _script(trial),
    )


def _script(trial: Trial) -> Script | None:
    """Return the script of any text that the tokeniser does not split, however short the others are."""
    scripts = (script_of([text]) for text in (trial.hypothesis, *trial.references))
    return next((script for script in scripts if script and script.warning(trial.reading.tokenize)), None)


# --- Stored texts -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stored:
    """Texts from the database, for a link to the playground."""

    dataset: Dataset
    hypothesis: str
    references: list[tuple[str, float]]
    left_out: int
    source: str
    label: str


def stored_trial(project: Project, query: Mapping[str, int | None], *, most: int) -> Stored | None:
    """Return an item's message, a system's output or a response, and a release's references by falling weight.

    None if the project has no such item.
    """
    item = Item.objects.filter(dataset__project=project, pk=query["item"] or 0).select_related("dataset").first()
    if item is None:
        return None
    sources = ResponseSource.objects.filter(item=item).select_related("response", "system")
    of_system = Q(system=query["system"], system__isnull=False)
    source = sources.filter(of_system | Q(response=query["response"])).order_by("system__name").first()
    release = Release.objects.filter(pk=query["release"] or 0, reference_set__dataset=item.dataset_id).first()
    rows = release_rows(release, item) if release else []
    label = f"Item {item.position + 1} of {item.dataset}"
    if source and source.system:
        label = f"{source.system}’s output for item {item.position + 1} of {item.dataset}"
    return Stored(
        item.dataset,
        source.response.text if source else "",
        [(row.response.text, row.weight) for row in rows[:most]],
        max(0, len(rows) - most),
        item.message,
        f"{label}, and the references of {release}" if release else label,
    )
