"""What the file of a data set still holds once its texts are imported."""

from dataclasses import dataclass
from typing import Any

from annotation.core.judges import judge_columns
from annotation.core.prose import enumerated
from annotation.core.rows import FORMATS
from annotation.models import Dataset, DatasetImport, JobState

NUMBERS = "numbers"  # the option of an import that names fields of numbers which it left out
MOST_NAMED = 6


@dataclass(frozen=True)
class NumbersLeft:
    """Fields of numbers that the import of the texts left out, and the number of that import, which has the file."""

    filename: str
    names: list[str]
    source: int

    @property
    def scores(self) -> list[str]:
        """Return the names that look like a judge's or a metric's scores."""
        return judge_columns(self.names)

    @property
    def ratings_listed(self) -> str:
        """Return the names that may be raters' ratings; '' if each looks like scores."""
        return _listed([name for name in self.names if name not in self.scores])

    @property
    def scores_listed(self) -> str:
        return _listed(self.scores)


def numbers_left(dataset: Dataset, source: DatasetImport | None) -> NumbersLeft | None:
    """Return the numbers of the data set's file that may be ratings, without those imported as scores by their name.

    None if ratings of the file are imported.
    """
    names = source.options.get(NUMBERS) if source else None
    if source is None or not names or source.file_format not in FORMATS:  # an import of ratings reads these
        return None
    project: Any = dataset.project  # the app above holds score runs
    if dataset.rating_imports.filter(filename=source.filename, state=JobState.DONE).exists():
        return None
    scored = project.score_runs.filter(dataset=dataset, report__imported__file=source.filename)
    scorers = set(scored.values_list("parameters__scorer", flat=True))
    left = [name for name in names if name not in scorers]
    return NumbersLeft(source.filename, left, source.pk) if left else None


def _listed(names: list[str]) -> str:
    return enumerated(names, MOST_NAMED) if names else ""
