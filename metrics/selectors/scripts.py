"""The script of stored texts, and the tokeniser that it takes."""

import re
from collections.abc import Iterable

from annotation.models import Dataset, Response, ResponseSource, SourceKind
from metrics.models import ScoreRun
from metrics.scoring.scripts import Script, script_of
from metrics.selectors.explanations import default_tokenizer
from metrics.selectors.leaderboard_table import Leaderboard

SAYS_LITTLE = "Scores of such tokens say little."
LOOKED_AT = 100  # responses
AT_SPACES = ("whitespace", "none")  # the tokenisers that leave punctuation where it is
APART, ATTACHED = re.compile(r"\w [.,!?;:](?:\s|$)"), re.compile(r"\w[.,!?;:](?:\s|$)")
DIFFERENT = 0.6  # of the shares of texts with punctuation apart
FEWEST = 10  # texts with punctuation, of either side


def dataset_script(dataset: Dataset) -> Script | None:
    """Return the script of a data set's responses if it decides how they are split."""
    texts = Response.objects.filter(item__dataset=dataset).order_by("pk").values_list("text", flat=True)
    return script_of(texts[:LOOKED_AT])


def proposed_tokenizer(dataset: Dataset) -> str:
    """Return the tokeniser for a data set: by its texts, else by its language."""
    script = dataset_script(dataset)
    return script.proposed if script else default_tokenizer(dataset.language)


def tokenizer_warning(dataset: Dataset, tokenize: object) -> str:
    """Return why a tokeniser does not split the data set's texts; empty if it does, or if there is none."""
    script = dataset_script(dataset) if isinstance(tokenize, str) else None
    if script:
        return script.warning(str(tokenize))
    return _split_apart_on_one_side(dataset) if tokenize in AT_SPACES else ""


def _split_apart_on_one_side(dataset: Dataset) -> str:
    """Return that references are tokenised and outputs are not, or the reverse; empty if both are alike."""
    sources = ResponseSource.objects.filter(item__dataset=dataset).order_by("pk")
    outputs, references = (
        _share_apart(side.values_list("response__text", flat=True)[:LOOKED_AT])
        for side in (sources.filter(kind=SourceKind.SYSTEM), sources.exclude(kind=SourceKind.SYSTEM))
    )
    if outputs is None or references is None or abs(outputs - references) < DIFFERENT:
        return ""
    apart, attached = ("Outputs", "references") if outputs > references else ("References", "outputs")
    return (
        f"{apart} have spaces before their punctuation (“then .”), {attached} do not (“then.”): split at spaces, the "
        "same words differ. “13a” splits both alike."
    )


def _share_apart(texts: Iterable[str]) -> float | None:
    """Return the share of texts whose punctuation stands apart, of those with any; None of too few."""
    punctuated = [bool(APART.search(text)) for text in texts if APART.search(text) or ATTACHED.search(text)]
    return sum(punctuated) / len(punctuated) if len(punctuated) >= FEWEST else None


def run_warning(run: ScoreRun) -> str:
    return tokenizer_warning(run.dataset, run.parameters.get("tokenize"))


def board_warning(board: Leaderboard) -> str:
    """Return which scores of a leaderboard rest on tokens that say little, and why; empty if none does."""
    labels: dict[str, list[str]] = {}
    warnings: dict[object, str] = {}
    for column in board.runs:
        if column.run is not None and column.references and "tokenize" in column.run.parameters:
            tokenizer = column.run.parameters["tokenize"]
            if tokenizer not in warnings:
                warnings[tokenizer] = tokenizer_warning(board.dataset, tokenizer)
            labels.setdefault(warnings[tokenizer], []).append(column.name)
    found = [f"{_which(names)}: {warning[0].lower()}{warning[1:]}" for warning, names in labels.items() if warning]
    return " ".join([*found, SAYS_LITTLE]) if found else ""


def _which(names: list[str]) -> str:
    """Return which columns, the first ones if they are many."""
    return names[0] if len(names) == 1 else f"{len(names)} metrics, such as {names[0]}"
