"""The matches of one reference with the outputs of its item; and matches as tables."""

from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

from annotation.models import Item, JobState, Release, Response
from metrics.scoring.explain.ngrams import exact_sum
from metrics.selectors.explanations import Explanation, Hypothesis, Reading, explain_item
from metrics.selectors.ngrams import Holder, Ngram, Reference, written


class Match(NamedTuple):
    """An n-gram of a hypothesis that the reference holds."""

    hypothesis: Hypothesis
    ngram: Ngram
    holder: Holder

    @property
    def added(self) -> float:
        return self.ngram.amount if self.holder.wins else 0.0


class SystemTotal(NamedTuple):
    hypothesis: Hypothesis
    won: int
    held: int
    sums: "Sums"


class Sums(NamedTuple):
    """Positive matches, negative ones and all together, as text; ``sign`` is that of the total."""

    plus: str
    minus: str
    added: str
    sign: str


def _sums(matches: Iterable[Match], scale: int) -> Sums:
    amounts = [match.added for match in matches]
    added = exact_sum(amounts, scale)
    return Sums(
        written(exact_sum((amount for amount in amounts if amount > 0), scale), scale, plus=True),
        written(exact_sum((amount for amount in amounts if amount < 0), scale), scale),
        written(added, scale, plus=True),
        "plus" if added > 0 else "minus" if added < 0 else "nil",
    )


@dataclass
class Matches:
    """The matches of a reference with the outputs of its item under one release."""

    explanation: Explanation
    reference: Reference
    matches: list[Match]
    totals: list[SystemTotal]

    @property
    def n_won(self) -> int:
        return sum(match.holder.wins for match in self.matches)

    @property
    def sums(self) -> "Sums":
        return _sums(self.matches, self.explanation.scale)


def weighing_releases(response: Response) -> list[Release]:
    """Return finished releases that weigh the response, newest first, with deprecated ones at the end."""
    releases = Release.objects.filter(weights__response=response, state=JobState.DONE)
    newest_first = releases.select_related("reference_set__dataset").order_by("-finished_at", "-pk")
    return sorted(newest_first, key=lambda release: release.deprecated_at is not None)


def response_matches(release: Release, response: Response, reading: Reading) -> Matches | None:
    """Return the matches of this reference; None if the subset leaves it out."""
    explanation = explain_item(release, response.item, reading)
    reference = explanation.of_response(response.pk)
    if reference is None or not reference.counts:
        return None
    matches = [
        Match(hypothesis, ngram, holder)
        for hypothesis in explanation.hypotheses
        for ngram in hypothesis.matched
        for holder in ngram.holders
        if holder.reference is reference
    ]
    totals = []
    for hypothesis in explanation.hypotheses:
        held = [match for match in matches if match.hypothesis is hypothesis]
        won = sum(match.holder.wins for match in held)
        totals.append(SystemTotal(hypothesis, won, len(held), _sums(held, explanation.scale)))
    return Matches(explanation, reference, matches, totals)


MATCH_COLUMNS = (
    *("ngram", "order", "in_hypothesis", "counted", "won_by_reference", "won_by_response_id", "weight"),
    *("adds", "of_at_most", "held_by"),
)
ITEM_MATCH_COLUMNS = ("item", "system", "response_id", "hypothesis", *MATCH_COLUMNS)
MATCH_TYPES = {"won_by_reference": "whole", "won_by_response_id": "whole", "weight": "number"}


def match_row(ngram: Ngram) -> tuple[Any, ...]:
    """Return an n-gram's row; one that no reference holds has no winner and adds 0."""
    winner = ngram.reference
    won = (winner.number, winner.response.pk, ngram.part.weight) if winner else (None, None, None)
    held_by = [
        {
            "reference": holder.reference.number,
            "response_id": holder.reference.response.pk,
            "weight": holder.reference.weight,
            "counted": holder.clipped,
            "would_add": holder.value,
        }
        for holder in ngram.holders
    ]
    part = ngram.part
    return ngram.text, part.order, part.count, part.clipped, *won, part.contribution, part.ceiling, held_by


def item_match_rows(item: Item, explanation: Explanation) -> Iterable[tuple[Any, ...]]:
    """Yield a row for each system and n-gram; systems with the same output have the same rows."""
    for hypothesis in explanation.hypotheses:
        for name in hypothesis.names:
            for ngram in hypothesis.ngrams:
                yield item.external_id, name, hypothesis.response.pk, hypothesis.response.text, *match_row(ngram)


GIVEN_FIELDS = {
    "release": "",
    "item": "",
    "system": "",
    "response_id": "hypothesis.response.pk",
    "hypothesis": "hypothesis.response.text",
    "ngram": "ngram.text",
    "order": "ngram.part.order",
    "in_hypothesis": "ngram.part.count",
    "in_reference": "holder.n_starts",
    "counted": "holder.clipped",
    "weight": "holder.reference.weight",
    "would_add": "holder.value",
    "won": "holder.wins",
    "adds": "added",
    "won_by_response_id": "ngram.winner_pk",
}


def given_rows(release: str, item: Item, matches: Matches | None) -> Iterable[tuple[Any, ...]]:
    values = attrgetter(*filter(None, GIVEN_FIELDS.values()))
    for match in matches.matches if matches else ():
        for name in match.hypothesis.names:
            yield release, item.external_id, name, *values(match)
