"""Dialogues rated turn by turn and at the end: stored, corrected, averaged, compared."""

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.campaigns.fields.table import CriterionDraft
from annotation.campaigns.scales import Magnitude
from annotation.core.dialogues import joined
from annotation.core.errors import AnnotationError
from annotation.models import Campaign, Presentation, Project, Rating, Response, Scope
from annotation.quality.selectors.monitoring.statistics import compute_statistics
from annotation.quality.selectors.rater_work import rater_items
from annotation.quality.selectors.raters import moment
from annotation.rating.selectors.ratings import current_ratings, judgement_table, rating_columns, rating_log
from annotation.rating.selectors.screens import screen
from annotation.rating.services.handout import unit_request
from annotation.rating.services.ratings import Submission, ratings_submit
from annotation.records.selectors.facts import campaign_facts
from annotation.records.services.wording import agreement
from annotation.references.releases.selectors.releases import numbers_of_judgements
from annotation.references.releases.selectors.responses import response_ratings
from annotation.results.selectors.counted import counted_ratings
from annotation.weighting.agreement import krippendorff_alpha
from tests.annotation.worlds.campaigns import join, make_campaign, make_dataset
from tests.annotation.worlds.dialogues import OVERALL, make_dialogue_campaign, make_dialogues

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(project: Project) -> Campaign:
    return make_dialogue_campaign(make_dialogues(project))


def next_screen(campaign: Campaign, name: str = "") -> Presentation:
    presentation = unit_request(campaign=campaign, rater=join(campaign, name))
    assert presentation is not None
    return presentation


def send(presentation: Presentation, first: int, second: int, overall: int) -> Submission:
    values = {(0, "sense", 1): first, (0, "sense", 3): second, (0, "overall"): overall}
    return ratings_submit(token=presentation.token, rater=presentation.rater, values=values)


def test_each_turn_of_the_system_has_a_rating_and_a_correction_changes_one(campaign: Campaign) -> None:
    shown = next_screen(campaign)
    assert send(shown, 2, 5, 4).written == 3
    assert send(shown, 2, 5, 4).written == 0
    assert send(shown, 3, 5, 4).written == 1
    rows = Rating.objects.order_by("turn", "revision").values_list("criterion__name", "turn", "revision", "value")
    assert list(rows) == [("sense", 1, 0, 2), ("sense", 1, 1, 3), ("sense", 3, 0, 5), ("overall", None, 0, 4)]
    assert sorted(current_ratings([campaign]).values_list("value", flat=True)) == [3, 4, 5]
    columns = rating_columns([campaign])
    assert sorted(columns.value.tolist()) == [4.0, 4.0]  # (3 + 5) / 2, and the whole
    assert judgement_table([campaign], criteria=["sense"]).value.tolist() == [4.0]
    shown.refresh_from_db()
    logged = response_ratings(Rating.objects.all()[0].response)
    assert [(each.rating.turn, each.status) for each in logged] == [
        (1, "superseded"),
        (1, "counts"),
        (3, "counts"),
        (None, "counts"),
    ]
    again = screen(shown)
    assert [question.text for question in again.questions] == ["3", "5", "4"]
    assert [bool(turn.questions) for turn in again.responses[0].turns] == [False, True, False, True]


def test_what_is_missing_is_named_turn_by_turn(campaign: Campaign) -> None:
    shown = next_screen(campaign)
    with pytest.raises(AnnotationError) as refused:
        ratings_submit(token=shown.token, rater=shown.rater, values={(0, "sense", 1): 9, (0, "sense", 0): 3})
    assert sorted(refused.value.fields) == ["r0-overall", "r0t0-sense", "r0t1-sense", "r0t3-sense"]
    assert not Rating.objects.exists()


def test_a_dialogue_that_cannot_be_judged_is_set_aside_with_its_turns(project: Project) -> None:
    campaign = make_dialogue_campaign(make_dialogues(project), cannot_judge_reasons=["Unclear"])
    shown = next_screen(campaign)
    ratings_submit(token=shown.token, rater=shown.rater, values={}, cannot_judge={0: "Unclear"})
    assert set(Rating.objects.values_list("turn", "cannot_judge")) == {
        (1, "Unclear"),
        (3, "Unclear"),
        (None, "Unclear"),
    }
    assert len(rating_columns([campaign]).value) == 0


def test_results_average_the_turns_and_agreement_compares_them(campaign: Campaign) -> None:
    given = {"Ann": (1, 5, 3), "Bob": (2, 5, 4)}
    for name, values in given.items():
        rater = join(campaign, name)
        while (shown := unit_request(campaign=campaign, rater=rater)) is not None:
            send(shown, *values)
    sense, overall = campaign.criteria.all()
    counted = counted_ratings([campaign])
    assert sorted(counted.of([sense.pk]).value.tolist()) == [3.0] * 4 + [3.5] * 4
    assert len(counted.of([overall.pk]).value) == 8
    statistics = compute_statistics(campaign, moment(campaign))
    by_turn = statistics.criteria[0]
    assert (by_turn.n_ratings, by_turn.values) == (16, [(1.0, 4), (2.0, 4), (3.0, 0), (4.0, 0), (5.0, 8)])
    # Eight turns (two of each of four dialogues) by two raters, as krippendorff_alpha has them by hand.
    by_hand = krippendorff_alpha(np.array([[1.0, 2.0], [5.0, 5.0]] * 4), level="ordinal").alpha
    assert by_turn.alpha.alpha == pytest.approx(by_hand)
    facts = campaign_facts(campaign).criteria[0]
    assert facts.alpha.alpha == pytest.approx(by_hand)
    assert "over 8 turns with two raters or more" in agreement(facts)
    items, _ = rater_items(campaign, campaign.participations.earliest("pk").rater)
    assert [(value.criterion, value.value) for value in items[0].texts[0].values] == [
        ("sense, turn 2", 1),
        ("sense, turn 4", 5),
        ("overall", 3),
    ]


def test_the_log_tells_turns_apart_and_a_rule_names_the_first_of_them(campaign: Campaign) -> None:
    send(next_screen(campaign, "Ann"), 1, 5, 3)
    before = rating_log(campaign)
    send(next_screen(campaign, "Bob"), 5, 1, 3)
    first, second, whole = Rating.objects.filter(rater__pseudonym="Ann").order_by("turn")
    assert numbers_of_judgements(Rating.objects.filter(rater__pseudonym="Ann")) == {first.pk, whole.pk}
    assert second.turn == 3
    assert rating_log(campaign).digest != before.digest


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"presentation": "pair"}, "a screen shows several responses"),
        ({"criteria": [CriterionDraft("m", "?", Magnitude.key, scope=Scope.TURN)]}, "rates one text by another"),
        ({"criteria": [CriterionDraft("m", "?", scope="turns")]}, "turns"),
    ],
)
def test_a_scope_that_does_not_fit_is_refused(project: Project, options: dict[str, object], message: str) -> None:
    with pytest.raises(AnnotationError, match=message):
        make_dialogue_campaign(make_dialogues(project), **options)


def test_turns_are_asked_about_only_where_every_response_is_a_dialogue(project: Project) -> None:
    with pytest.raises(AnnotationError, match="the data set 'chat' has no dialogues; accepted: whole"):
        make_dialogue_campaign(make_dataset(project))
    mixed = make_dialogues(project)
    Response.objects.filter(pk=Response.objects.filter(item__dataset=mixed).earliest("pk").pk).update(turns=None)
    with pytest.raises(AnnotationError, match="these items have responses without turns: goal-0"):
        make_dialogue_campaign(mixed)
    assert make_dialogue_campaign(mixed, name="At the end", criteria=[OVERALL]).state == "running"


def test_checks_made_from_dialogues_keep_their_turns_and_expect_answers_about_the_whole(project: Project) -> None:
    checks = {"every": 2, "mix": {"degraded": 1}, "degraded": {"count": 1}}
    campaign = make_dialogue_campaign(make_dialogues(project), quality=checks)
    (check,) = campaign.check_units.all()
    assert [turn["speaker"] for turn in check.texts[0]["turns"]] == ["user", "system", "user", "system"]
    assert check.texts[0]["text"] == joined(check.texts[0]["turns"])
    gold = {"gold": [{"texts": [{"text": "Fine.", "expected": {"sense": [1, 2]}}]}], "every": 2, "mix": {"gold": 1}}
    with pytest.raises(AnnotationError, match="The criterion 'sense' is about each turn"):
        make_dialogue_campaign(campaign.dataset, name="Gold", quality=gold)


def test_a_screen_of_plain_texts_takes_no_query_for_turns(project: Project) -> None:
    plain = next_screen(make_campaign(make_dataset(project, items=1)))
    dialogues = next_screen(make_dialogue_campaign(make_dialogues(project), criteria=[OVERALL]))
    with CaptureQueriesContext(connection) as plainly:
        screen(plain)
    with CaptureQueriesContext(connection) as turned:
        screen(dialogues)
    assert len(plainly) == len(turned)
