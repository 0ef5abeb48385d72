"""Everything one reference gave to the outputs of its item; and matches as tables."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from annotation.models import Item, JobState, Release, Response
from metrics.scoring.explain.ngrams import exact_sum
from metrics.selectors.explanations import Explanation, Hypothesis, Reading, explain_item
from metrics.selectors.ngrams import Holder, Ngram, Reference, written


class Given(NamedTuple):
    """One n-gram of a hypothesis that the reference holds."""

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
    plus: str
    minus: str
    added: str
    sign: str


@dataclass
class Matches:
    """Everything one reference gave to the outputs of its item under one release."""

    explanation: Explanation
    reference: Reference
    given: list[Given]
    totals: list[SystemTotal]

    @property
    def n_won(self) -> int:
        return sum(one.holder.wins for one in self.given)

    def added(self, keep: "Iterable[Given] | None" = None) -> float:
        return exact_sum((one.added for one in (self.given if keep is None else keep)), self.explanation.scale)

    @property
    def written_plus(self) -> str:
        return written(self.added(one for one in self.given if one.added > 0), self.explanation.scale, plus=True)

    @property
    def written_minus(self) -> str:
        return written(self.added(one for one in self.given if one.added < 0), self.explanation.scale)

    @property
    def written_added(self) -> str:
        return written(self.added(), self.explanation.scale, plus=True)


def weighing_releases(response: Response) -> list[Release]:
    """Finished releases that weigh the response: those still in use first, then the newest first."""
    found = Release.objects.filter(weights__response=response, state=JobState.DONE).select_related(
        "reference_set__dataset"
    )
    return sorted(found.order_by("-finished_at", "-pk"), key=lambda release: release.deprecated_at is not None)


def response_matches(release: Release, response: Response, reading: Reading) -> Matches | None:
    """What this reference gave; None where the subset leaves it out."""
    explanation = explain_item(release, response.item, reading)
    reference = explanation.of_response(response.pk)
    if reference is None or not reference.counts:
        return None
    given = [
        Given(hypothesis, ngram, holder)
        for hypothesis in explanation.hypotheses
        for ngram in hypothesis.matched
        for holder in ngram.holders
        if holder.reference is reference
    ]
    totals = [
        _system_total(hypothesis, [one for one in given if one.hypothesis is hypothesis], explanation.scale)
        for hypothesis in explanation.hypotheses
    ]
    return Matches(explanation, reference, given, totals)


def _system_total(hypothesis: Hypothesis, given: Sequence[Given], scale: int) -> SystemTotal:
    amounts = [one.added for one in given]
    added = exact_sum(amounts, scale)
    return SystemTotal(
        hypothesis,
        sum(one.holder.wins for one in given),
        len(given),
        written(exact_sum((amount for amount in amounts if amount > 0), scale), scale, plus=True),
        written(exact_sum((amount for amount in amounts if amount < 0), scale), scale),
        written(added, scale, plus=True),
        "plus" if added > 0 else "minus" if added < 0 else "nil",
    )


MATCH_COLUMNS = (
    "ngram",
    "order",
    "in_hypothesis",
    "counted",
    "won_by_reference",
    "won_by_response_id",
    "weight",
    "adds",
    "of_at_most",
    "held_by",
)
ITEM_MATCH_COLUMNS = ("item", "system", "response_id", "hypothesis", *MATCH_COLUMNS)
GIVEN_COLUMNS = (
    "release",
    "item",
    "system",
    "response_id",
    "hypothesis",
    "ngram",
    "order",
    "in_hypothesis",
    "in_reference",
    "counted",
    "weight",
    "would_add",
    "won",
    "adds",
    "won_by_response_id",
)
MATCH_TYPES = {"won_by_reference": "whole", "won_by_response_id": "whole", "weight": "number"}


def match_row(ngram: Ngram) -> tuple[Any, ...]:
    """What no reference holds has no winner and adds 0."""
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
    return ngram.text, ngram.order, ngram.count, ngram.clipped, *won, ngram.amount, ngram.ceiling, held_by


def item_match_rows(item: Item, explanation: Explanation) -> Iterable[tuple[Any, ...]]:
    """A row for each system and n-gram; systems that said the same have the same rows."""
    for hypothesis in explanation.hypotheses:
        for name in hypothesis.names:
            for ngram in hypothesis.ngrams:
                yield item.external_id, name, hypothesis.response.pk, hypothesis.response.text, *match_row(ngram)


def given_rows(release: str, item: Item, matches: Matches | None) -> Iterable[tuple[Any, ...]]:
    for one in matches.given if matches else ():
        ngram, holder, response = one.ngram, one.holder, one.hypothesis.response
        winner = ngram.reference
        for name in one.hypothesis.names:
            yield (
                release,
                item.external_id,
                name,
                response.pk,
                response.text,
                ngram.text,
                ngram.order,
                ngram.count,
                len(holder.starts),
                holder.clipped,
                holder.reference.weight,
                holder.value,
                holder.wins,
                one.added,
                winner.response.pk if winner else None,
            )
