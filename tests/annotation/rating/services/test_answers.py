"""Answers on every kind of scale: stored or refused; reasons for not judging; comments; standards; the pace."""

import math
from datetime import timedelta

import numpy as np
import pytest
from django.db.models import F

from annotation.campaigns.services.lifecycle import campaign_launch
from annotation.core.errors import AnnotationError
from annotation.models import Campaign, Comment, Presentation, Project, Rating, ResponseSource, Unit
from annotation.rating.selectors.handout import Waiting, seconds_to_wait, waiting
from annotation.rating.selectors.ratings import judgement_table, rating_columns
from annotation.rating.services.handout import unit_request
from annotation.rating.services.pace import pace_update
from annotation.rating.services.ratings import Submission, draft_save, ratings_submit
from tests.annotation.worlds.campaigns import join, make_campaign, make_dataset, rate_next
from tests.annotation.worlds.designed import make_designed

pytestmark = pytest.mark.django_db

PREFERENCE = {"kind": "preference", "scale_min": -3, "scale_max": 3}
SLIDER = {"kind": "slider", "scale_min": 0, "scale_max": 100, "step": 0.5}
MAGNITUDE = {"kind": "magnitude", "standard_value": 100.0, "standard_source": "human"}


def send(campaign: Campaign, value: object, **more: object) -> Submission:
    rater = join(campaign)
    presentation = unit_request(campaign=campaign, rater=rater)
    assert presentation is not None
    values = {(0, "relevance"): value} if value is not None else {}
    return ratings_submit(token=presentation.token, rater=rater, values=values, **more)  # type: ignore[arg-type]


def stored_values(sent: Submission) -> list[tuple[int | None, float | None]]:
    rows = Rating.objects.filter(presentation=sent.presentation).order_by("position")
    return list(rows.values_list("position", "value"))


@pytest.mark.parametrize(("value", "values"), [("2", [(0, 2.0), (1, -2.0)]), (-3, [(0, -3.0), (1, 3.0)])])
def test_a_preference_is_stored_for_both_texts(
    project: Project, value: object, values: list[tuple[int, float]]
) -> None:
    assert (
        stored_values(send(make_designed(make_dataset(project), presentation="pair", criterion=PREFERENCE), value))
        == values
    )


def test_a_preference_may_be_a_tie_only_if_ties_are_allowed(project: Project) -> None:
    dataset = make_dataset(project)
    strict = make_designed(dataset, name="Strict", presentation="pair", criterion=PREFERENCE)
    lenient = make_designed(dataset, name="Lenient", presentation="pair", criterion=PREFERENCE | {"ties": True})
    with pytest.raises(AnnotationError, match="accepted: a whole number from -3 to 3, not 0"):
        send(strict, 0)
    assert stored_values(send(lenient, 0)) == [(0, 0.0), (1, 0.0)]


@pytest.mark.parametrize("value", ["0", "100", 37.5])
def test_a_slider_accepts_values_at_its_steps(project: Project, value: object) -> None:
    assert stored_values(send(make_designed(make_dataset(project), criterion=SLIDER), value)) == [
        (0, float(str(value)))
    ]


@pytest.mark.parametrize("value", ["", "100.5", "-1", "37.3", "nan", "inf", "many", True])
def test_a_slider_refuses_other_values(project: Project, value: object) -> None:
    with pytest.raises(AnnotationError, match="a number from 0 to 100 in steps of") as refused:
        send(make_designed(make_dataset(project), criterion=SLIDER), value)
    assert list(refused.value.fields) == ["r0-relevance"]


@pytest.mark.parametrize("value", ["0", "-5", "1000001", "nan"])
def test_a_magnitude_is_above_zero(project: Project, value: str) -> None:
    with pytest.raises(AnnotationError, match="accepted: a number above 0"):
        send(make_designed(make_dataset(project), criterion=MAGNITUDE), value)


def test_magnitudes_become_logarithms_of_their_ratio_to_the_standard(project: Project) -> None:
    campaign = make_designed(make_dataset(project), criterion=MAGNITUDE)
    sent = send(campaign, "250")
    assert stored_values(sent) == [(0, 250.0)]
    table = judgement_table([campaign])
    assert table.value.tolist() == [pytest.approx(math.log(2.5))]
    assert np.isnan([table.low, table.high]).all()


def test_each_unit_of_magnitudes_has_its_items_standard_which_is_not_rated(project: Project) -> None:
    campaign = make_designed(
        make_dataset(project), target="references", criterion=MAGNITUDE | {"standard_source": "Ada"}
    )
    for unit in Unit.objects.filter(campaign=campaign).select_related("standard__item"):
        assert unit.standard.item_id == unit.item_id
        assert unit.standard.sources.get().system.name == "Ada"
        assert not unit.responses.filter(pk=unit.standard_id).exists()


def test_a_launch_names_the_items_that_lack_a_standard(project: Project) -> None:
    campaign = make_campaign(make_dataset(project), launch=False)
    campaign.criteria.update(**MAGNITUDE)
    ResponseSource.objects.filter(kind="human", item__external_id__in=["item-1", "item-3"]).delete()
    with pytest.raises(AnnotationError, match="item-1, item-3"):
        campaign_launch(campaign=campaign)
    assert not campaign.units.exists()


def test_a_response_that_cannot_be_judged_has_a_reason_and_no_value(project: Project) -> None:
    campaign = make_designed(make_dataset(project), cannot_judge_reasons=["Another language"])
    sent = send(campaign, None, cannot_judge={0: "Another language"})
    rating = Rating.objects.get(presentation=sent.presentation)
    assert (rating.value, rating.cannot_judge, str(rating)) == (None, "Another language", "Another language")
    assert len(rating_columns([campaign]).value) == 0


def test_a_rating_can_be_changed_to_cannot_judge_and_back(project: Project) -> None:
    campaign = make_designed(make_dataset(project), cannot_judge_reasons=["Unclear"])
    rater = join(campaign)
    presentation = unit_request(campaign=campaign, rater=rater)
    assert presentation is not None
    ratings_submit(token=presentation.token, rater=rater, values={(0, "relevance"): 4})
    ratings_submit(token=presentation.token, rater=rater, values={}, cannot_judge={0: "Unclear"})
    assert len(rating_columns([campaign]).value) == 0
    ratings_submit(token=presentation.token, rater=rater, values={(0, "relevance"): 2})
    assert rating_columns([campaign]).value.tolist() == [2.0]
    assert Rating.objects.filter(presentation=presentation).count() == 3


@pytest.mark.parametrize(
    ("reasons", "answers"), [([], {0: "Why not"}), (["Unclear"], {0: "Other"}), (["Unclear"], {4: "Unclear"})]
)
def test_only_an_offered_reason_is_accepted(project: Project, reasons: list[str], answers: dict[int, str]) -> None:
    campaign = make_designed(make_dataset(project), cannot_judge_reasons=reasons)
    with pytest.raises(AnnotationError) as refused:
        send(campaign, 3, cannot_judge=answers)
    assert f"cannot-{next(iter(answers))}" in refused.value.fields


def test_comments_are_stored_by_revision(project: Project) -> None:
    campaign = make_designed(make_dataset(project), comment="optional")
    rater = join(campaign)
    presentation = unit_request(campaign=campaign, rater=rater)
    assert presentation is not None
    for text in ("", "Odd.", "Odd.", "Very odd."):
        ratings_submit(token=presentation.token, rater=rater, values={(0, "relevance"): 3}, comment=text)
    assert list(Comment.objects.order_by("revision").values_list("text", flat=True)) == ["Odd.", "Very odd."]


@pytest.mark.parametrize(("setting", "text"), [("off", "Hello"), ("required", " "), ("optional", "x" * 2001)])
def test_a_comment_that_is_not_accepted_is_refused(project: Project, setting: str, text: str) -> None:
    with pytest.raises(AnnotationError) as refused:
        send(make_designed(make_dataset(project), comment=setting), 3, comment=text)
    assert list(refused.value.fields) == ["comment"]


def test_a_draft_is_stored_until_the_answer_is_submitted(project: Project) -> None:
    campaign = make_designed(make_dataset(project))
    rater = join(campaign)
    presentation = unit_request(campaign=campaign, rater=rater)
    assert presentation is not None
    assert draft_save(token=presentation.token, rater=rater, fields={"r0-relevance": "4"})
    assert draft_save(token=presentation.token, rater=rater, fields={"r0-relevance": "2"})
    assert presentation.draft.fields == {"r0-relevance": "2"}
    ratings_submit(token=presentation.token, rater=rater, values={(0, "relevance"): 2})
    assert not draft_save(token=presentation.token, rater=rater, fields={"r0-relevance": "5"})


def test_a_rater_waits_between_units_if_the_design_sets_a_pause(project: Project) -> None:
    campaign = make_designed(make_dataset(project), seconds_between_units=60)
    rater = join(campaign)
    rate_next(campaign, rater)
    assert unit_request(campaign=campaign, rater=rater) is None
    assert waiting(campaign=campaign, rater=rater) == Waiting.PAUSE_BETWEEN
    assert 0 < seconds_to_wait(campaign=campaign, rater=rater) <= 60
    Presentation.objects.update(shown_at=F("shown_at") - timedelta(minutes=2))
    assert unit_request(campaign=campaign, rater=rater) is not None


def test_the_lease_follows_the_campaigns_pace_within_its_bounds(project: Project) -> None:
    campaign = make_designed(
        make_dataset(project, items=10), lease_seconds=600, lease_min_seconds=30, lease_max_seconds=900
    )
    rater = join(campaign)
    assert pace_update(campaign=campaign).lease_seconds == 600
    while rate_next(campaign, rater):
        pass
    Presentation.objects.update(shown_at=F("ended_at") - timedelta(seconds=20))
    pace = pace_update(campaign=campaign)
    assert pace.median_seconds == pytest.approx(20)
    assert 30 < pace.lease_seconds < 600
    presentation = unit_request(campaign=campaign, rater=join(campaign))
    assert presentation is not None
    lease = presentation.slot.expires_at - presentation.shown_at
    assert lease.total_seconds() == pytest.approx(pace.lease_seconds, abs=1)


@pytest.mark.parametrize("value", ["5e-324", "1e-300", 9e-7])
def test_a_magnitude_below_the_smallest_is_refused(project: Project, value: object) -> None:
    campaign = make_designed(make_dataset(project), criterion=MAGNITUDE)
    with pytest.raises(AnnotationError, match=r"accepted: a number above 0, from 0\.000001 to 1,000,000"):
        send(campaign, value)
    assert stored_values(send(campaign, "0.000001")) == [(0, 1e-6)]


def test_a_draft_that_cannot_be_stored_is_refused(project: Project) -> None:
    campaign = make_campaign(make_dataset(project))
    rater = join(campaign)
    presentation = unit_request(campaign=campaign, rater=rater)
    assert presentation is not None
    for fields in ({"comment": "a\x00b"}, {"r0-\x00": "1"}):
        with pytest.raises(AnnotationError, match="NUL"):
            draft_save(token=presentation.token, rater=rater, fields=fields)
