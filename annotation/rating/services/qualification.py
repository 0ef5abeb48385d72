"""Training and qualification tests: the items before the first unit, and what follows from them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.db.models.functions import Now

from annotation import models


class Wrong(NamedTuple):
    """An answer outside the range that was accepted."""

    position: int
    criterion: str
    value: float | None
    low: float
    high: float


@dataclass(frozen=True)
class TestResult:
    """The result of an attempt at the qualification test; ``share`` of the answers were as expected."""

    passed: bool
    share: float
    pass_mark: float
    attempt: int
    attempts_left: int


def first_stage(campaign: models.Campaign) -> models.Stage:
    """Return the stage in which a new rater begins."""
    if campaign.qualification.get("training"):
        return models.Stage.TRAINING
    return models.Stage.TEST if campaign.qualification.get("test") else models.Stage.WORK


def next_item(*, campaign: models.Campaign, rater_id: int, stage: models.Stage) -> models.CheckUnit | None:
    """Return the next training or test item; each attempt at the test begins with its first."""
    kind = models.Purpose.TRAINING if stage == models.Stage.TRAINING else models.Purpose.TEST
    items = models.CheckUnit.objects.filter(campaign=campaign, kind=kind)
    total = items.count()
    if total == 0:
        return None
    return items.get(number=_submitted(campaign.pk, rater_id, kind).count() % total)


def qualification_advance(*, presentation: models.Presentation, stage: models.Stage) -> TestResult | None:
    """Move the rater to the next stage after the last training or test item; return the result of a test.

    Call it in the transaction that stores the answer, which holds the participation's lock.
    """
    campaign, rater_id = presentation.campaign, presentation.rater_id
    if presentation.purpose != stage:
        return None
    total = models.CheckUnit.objects.filter(campaign=campaign, kind=presentation.purpose).count()
    if _submitted(campaign.pk, rater_id, presentation.purpose).count() % total:
        return None
    mine = models.Participation.objects.get(campaign=campaign, rater=rater_id)
    if presentation.purpose == models.Purpose.TRAINING:
        mine.stage = models.Stage.TEST if campaign.qualification.get("test") else models.Stage.WORK
        mine.attempt = 1 if mine.stage == models.Stage.TEST else 0
        mine.save(update_fields=["stage", "attempt"])
        return None
    result = _judged(campaign, mine, total)
    if result.passed:
        mine.stage, mine.qualified_at = models.Stage.WORK, Now()
    elif result.attempts_left:
        mine.attempt += 1
    else:
        mine.stage = models.Stage.FAILED
    mine.save(update_fields=["stage", "attempt", "qualified_at"])
    return result


def wrong_answers(presentation: models.Presentation, criteria: Sequence[models.Criterion]) -> Iterator[Wrong]:
    """Yield the answers to a prepared item that are outside the expected range."""
    names = {criterion.pk: criterion.name for criterion in criteria}
    for answer, low, high in _expected(presentation, names):
        if not _is_met(answer, low, high):
            yield Wrong(answer.position, names[answer.criterion_id], answer.value, low, high)


def _judged(campaign: models.Campaign, mine: models.Participation, total: int) -> TestResult:
    """Judge the attempt that has just ended: the latest ``total`` test items."""
    latest = (
        _submitted(campaign.pk, mine.rater_id, models.Purpose.TEST).select_related("check_unit").order_by("-pk")[:total]
    )
    names = dict(models.Criterion.objects.filter(campaign=campaign).values_list("pk", "name"))
    met = [_is_met(*expected) for presentation in latest for expected in _expected(presentation, names)]
    share = sum(met) / len(met) if met else 0.0
    pass_mark = float(campaign.qualification.get("pass_mark", 0.8))
    attempts = int(campaign.qualification.get("attempts", 1))
    passed = share >= pass_mark - 1e-9
    return TestResult(passed, share, pass_mark, mine.attempt, 0 if passed else max(attempts - mine.attempt, 0))


def _expected(
    presentation: models.Presentation, names: Mapping[int, str]
) -> Iterator[tuple[models.CheckAnswer, float, float]]:
    """Yield the answers with an expected range, and its ends."""
    texts: list[dict[str, Any]] = presentation.check_unit.texts if presentation.check_unit else []
    for answer in models.CheckAnswer.objects.filter(presentation=presentation).order_by("revision"):
        ends = texts[answer.number].get("expected", {}).get(names[answer.criterion_id])
        if ends is not None:
            yield answer, float(ends[0]), float(ends[1])


def _is_met(answer: models.CheckAnswer, low: float, high: float) -> bool:
    return answer.value is not None and low <= answer.value <= high


def _submitted(campaign_id: int, rater_id: int, purpose: str) -> QuerySet[models.Presentation]:
    return models.Presentation.objects.filter(
        campaign=campaign_id, rater=rater_id, purpose=purpose, outcome=models.PresentationOutcome.SUBMITTED
    )
