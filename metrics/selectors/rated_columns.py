"""Columns of a file of scores that are ratings which the project has."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from annotation.models import Dataset, Item, Rater, RaterIdentity, Rating, ResponseSource
from annotation.models.identities import texts_by_digest

MOST_ITEMS = 50  # whose ratings are compared with a column
FEWEST_CELLS = 8  # with fewer equal ones, a judge may have given the same points
BETWEEN = ":"  # of a rater and a criterion, in the name of a column


def raters_named(dataset: Dataset, names: Sequence[str]) -> set[str]:
    """Return the columns that have the name of a rater of the data set's ratings: in a file, or the pseudonym."""
    rater_of = {name: name.rsplit(BETWEEN, 1)[0].strip() for name in names}
    wanted = set(rater_of.values())
    raters = Rater.objects.filter(project=dataset.project_id)
    name_of = texts_by_digest(wanted)
    identities = RaterIdentity.objects.filter(
        project=dataset.project_id, provider=RaterIdentity.IMPORT, digest__in=list(name_of)
    ).values_list("rater", "digest")
    imported = [(rater, name_of[digest]) for rater, digest in identities]
    found = [*imported, *raters.filter(pseudonym__in=wanted).values_list("pk", "pseudonym")]
    rated = set(
        raters.filter(pk__in=[pk for pk, _ in found], ratings__campaign__dataset=dataset).values_list("pk", flat=True)
    )
    known = {name for pk, name in found if pk in rated}
    return {name for name, rater in rater_of.items() if rater in known}


def columns_of_ratings(
    dataset: Dataset, columns: Mapping[str, npt.NDArray[np.float64]], systems: Sequence[str], positions: Sequence[int]
) -> set[str]:
    """Return the columns (T, S) whose scores on the first items are all equal to one rater's ratings of a criterion.

    ``systems`` are the T rows, ``positions`` the S columns as places in the data set.
    """
    items = list(Item.objects.filter(dataset=dataset).order_by("position").values_list("pk", flat=True))
    place = {items[position]: column for column, position in enumerate(list(positions)[:MOST_ITEMS])}
    row = {name: index for index, name in enumerate(systems)}
    sources = ResponseSource.objects.filter(item__in=place, system__name__in=systems)
    cells = defaultdict(list)
    for response, item, system in sources.values_list("response", "item", "system__name"):
        cells[response].append((row[system], place[item]))
    ratings: dict[tuple[int, int], npt.NDArray[np.float64]] = {}
    given = Rating.objects.filter(response__in=list(cells), value__isnull=False).order_by("id")
    for rater, criterion, response, value in given.values_list("rater", "criterion", "response", "value"):
        if (rater, criterion) not in ratings:
            ratings[rater, criterion] = np.full((len(systems), len(place)), np.nan)
        for cell in cells[response]:
            ratings[rater, criterion][cell] = value
    return {
        name
        for name, scores in columns.items()
        if any(_is_equal(scores[:, : len(place)], theirs) for theirs in ratings.values())
    }


def _is_equal(scores: npt.NDArray[np.float64], ratings: npt.NDArray[np.float64]) -> bool:
    scored = np.isfinite(scores)
    values = scores[scored]
    varies = values.size >= FEWEST_CELLS and float(np.ptp(values)) > 0
    return bool(varies and np.array_equal(values, ratings[scored]))
