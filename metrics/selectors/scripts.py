"""The script of stored texts, and the tokeniser that it takes."""

from annotation.models import Dataset, Response
from metrics.models import ScoreRun
from metrics.scoring.scripts import Script, script_of
from metrics.selectors.explanations import default_tokenizer

LOOKED_AT = 100  # responses


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
    return script.warning(str(tokenize)) if script else ""


def run_warning(run: ScoreRun) -> str:
    return tokenizer_warning(run.dataset, run.parameters.get("tokenize"))
