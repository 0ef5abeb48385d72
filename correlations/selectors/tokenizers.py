"""Whether a study's tokeniser splits the texts that it scores."""

from correlations.models import ParameterStudy, Study
from metrics.selectors.scripts import tokenizer_warning


def study_warning(study: Study | ParameterStudy) -> str:
    """Return why the study's tokeniser does not split its texts; empty if it does."""
    spec = study.specification
    tokenize = spec.get("tokenize") or spec.get("metric", {}).get("parameters", {}).get("tokenize")
    return tokenizer_warning(study.dataset, tokenize)
