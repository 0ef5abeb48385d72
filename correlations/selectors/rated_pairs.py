"""Which differences of two systems a study's raters are certain of, by the one test of the campaigns' results."""

from collections.abc import Collection
from itertools import product

from annotation.core.errors import AnnotationError
from annotation.results.selectors.stored import read_results
from correlations.models import Study

Pairs = Collection[frozenset[str]]


def certain_pairs(study: Study) -> Pairs | None:
    """Return the pairs whose difference is certain on each criterion of the study; None while there are no results."""
    try:
        results = read_results(list(study.campaigns.order_by("pk")), {}).results
    except AnnotationError:  # the campaigns share no scale
        return None
    if results is None:
        return None
    counted = study.specification.get("criteria") or [verdict.criterion for verdict in results.criteria]
    verdicts = [verdict for verdict in results.criteria if verdict.criterion in counted]
    sides: dict[frozenset[str], list[tuple[str, bool]]] = {}
    for verdict in verdicts:
        members = {system.name: system.same or [system.name] for system in verdict.systems}
        for pair in verdict.pairs:
            # A study may name either of two systems whose outputs are the same; results have one entry for both.
            for first, second in product(members[pair.first], members[pair.second]):
                sides.setdefault(frozenset((first, second)), []).append((first, pair.is_certain))
    return {
        names
        for names, found in sides.items()
        if len({better for better, _ in found}) == 1 and all(certain for _, certain in found)
    }
