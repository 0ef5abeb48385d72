import pytest

from annotation.campaigns.scales import Scale
from annotation.models import Criterion, Presentation, Project, Purpose
from annotation.rating.selectors.screens import criteria_of, preview_screen, screen
from annotation.rating.services.handout import unit_request
from annotation.rating.services.ratings import draft_save, ratings_submit
from tests.annotation.worlds import rating_screens
from tests.annotation.worlds.campaigns import add_response, join, make_campaign, make_dataset


def scale(**fields: object) -> Scale:
    return Criterion(**{"name": "q", "question": "?", "scale_min": 1, "scale_max": 5, "labels": [], **fields}).scale


@pytest.mark.parametrize(
    ("labels", "layout"),
    [
        ([], "numbers"),
        (["bad", "", "", "", "good"], "numbers"),
        (["none", "little", "some", "much", "all"], "row"),
        (["not at all fluent", "a little", "some", "much", "all"], "list"),
    ],
)
def test_labels_stand_where_there_is_room_for_them(labels: list[str], layout: str) -> None:
    assert scale(labels=labels).layout == layout


def test_a_scale_of_many_points_shows_its_ends_alone() -> None:
    many = scale(scale_max=9, labels=[f"point {n}" for n in range(1, 10)])
    assert many.layout == "numbers"
    assert many.ends_labels == ("point 1", "point 9")


@pytest.mark.parametrize(
    ("values", "keys"),
    [
        (range(1, 6), ["1", "2", "3", "4", "5"]),
        (range(5), ["0", "1", "2", "3", "4"]),
        (range(1, 11), ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0"]),
        (range(-2, 3), ["1", "2", "3", "4", "5"]),
        (range(1, 26), [""] * 25),
    ],
)
def test_each_point_has_its_own_key_or_none_has(values: range, keys: list[str]) -> None:
    assert scale(scale_min=values[0], scale_max=values[-1]).keys == keys


@pytest.mark.parametrize(
    ("strength", "ties", "expected"),
    [
        (1, False, [(1, "A better"), (-1, "B better")]),
        (1, True, [(1, "A better"), (0, "Equal"), (-1, "B better")]),
        (2, False, [(2, "A much better"), (1, "A slightly better"), (-1, "B slightly better"), (-2, "B much better")]),
    ],
)
def test_a_preference_runs_from_the_first_text_to_the_second(
    strength: int, ties: bool, expected: list[tuple[int, str]]
) -> None:
    asked = Criterion(kind="preference", scale_min=-strength, scale_max=strength, ties=ties)
    assert asked.scale.points == expected


def test_every_degree_of_a_preference_has_words_of_its_own() -> None:
    asked = Criterion(kind="preference", scale_min=-5, scale_max=5, ties=True)
    words = [label for _, label in asked.scale.points]
    assert len(set(words)) == len(words) == 11


def test_a_preferences_labels_are_those_of_its_values_whether_or_not_ties_are_allowed() -> None:
    asked = Criterion(kind="preference", scale_min=-1, scale_max=1, labels=["second", "same", "first"])
    assert asked.scale.points == [(1, "first"), (-1, "second")]
    asked.ties = True
    assert asked.scale.points == [(1, "first"), (0, "same"), (-1, "second")]


def test_texts_stand_in_the_order_drawn_and_answers_come_back(project: Project) -> None:
    campaign = rating_screens.choices(project, rating_screens.RELEVANT, comment="optional", cannot_judge_reasons=["No"])
    rater = join(campaign)
    shown = unit_request(campaign=campaign, rater=rater)
    assert shown is not None
    before = screen(shown)
    by_number = dict(shown.unit.unit_responses.values_list("number", "response__text"))
    assert [one.text for one in before.responses] == [by_number[number] for number in shown.order]
    assert [one.letter for one in before.responses] == ["A", "B"]

    values = {(0, "relevance"): "4", (1, "relevance"): "2", (0, "better"): "-2"}
    ratings_submit(token=shown.token, rater=rater, values=values, comment="So so.")
    ratings_submit(
        token=shown.token, rater=rater, values={(0, "relevance"): "5"}, cannot_judge={1: "No"}, comment="Better."
    )
    after = screen(Presentation.objects.get(pk=shown.pk))
    assert after.answered
    assert [one.questions[0].text for one in after.responses] == ["5", ""]
    assert [one.reason for one in after.responses] == ["", "No"]
    assert after.shared[0].text == ""
    assert after.comment == "Better."


def test_what_was_sent_comes_back_with_what_is_wrong_in_the_raters_words(project: Project) -> None:
    campaign = rating_screens.sliders(project)
    shown = unit_request(campaign=campaign, rater=join(campaign))
    assert shown is not None
    asked = screen(shown, sent={"r0-adequacy": "101"}, errors={"r0-adequacy": ["…"]}).responses[0].questions[0]
    assert (asked.text, asked.error) == ("101", "Please give a number from 0 to 100.")


def test_a_long_list_remembers_its_draft(project: Project) -> None:
    campaign = rating_screens.lists(project)
    rater = join(campaign)
    shown = unit_request(campaign=campaign, rater=rater)
    assert shown is not None
    draft_save(token=shown.token, rater=rater, fields={"r1-fluency": "3"})
    again = screen(Presentation.objects.get(pk=shown.pk))
    assert again.is_long
    assert [one.questions[0].text for one in again.responses][:3] == ["", "3", ""]


def test_a_repeat_shows_the_unit_and_its_own_answer(project: Project) -> None:
    campaign = rating_screens.singles(project)
    rater = join(campaign)
    first = unit_request(campaign=campaign, rater=rater)
    assert first is not None
    ratings_submit(token=first.token, rater=rater, values={(0, "fluency"): 4, (0, "relevance"): 4})
    again = Presentation.objects.create(
        campaign=campaign,
        rater=rater,
        purpose=Purpose.REPEAT,
        unit=first.unit,
        repeats=first,
        order=first.order,
        shown_at=first.shown_at,
    )
    assert screen(again).responses[0].text == screen(first).responses[0].text
    ratings_submit(token=again.token, rater=rater, values={(0, "fluency"): 1, (0, "relevance"): 2})
    again.refresh_from_db()
    assert [one.text for one in screen(again).responses[0].questions] == ["1", "2"]


def test_the_standard_stands_beside_what_is_compared_with_it(project: Project) -> None:
    campaign = rating_screens.magnitudes(project)
    shown = unit_request(campaign=campaign, rater=join(campaign))
    assert shown is not None
    assert screen(shown).standard == shown.unit.standard.text


def test_criteria_are_read_once_from_launch_on(project: Project, django_assert_num_queries: object) -> None:
    campaign = rating_screens.singles(project)
    criteria_of(campaign)
    with django_assert_num_queries(0):  # type: ignore[operator]
        assert [one.name for one in criteria_of(campaign)] == ["fluency", "relevance"]


def test_the_preview_shows_a_chosen_item_with_criteria_not_saved_yet(project: Project) -> None:
    dataset = make_dataset(project)
    draft = make_campaign(dataset, launch=False, presentation="list")
    item = dataset.items.get(external_id="item-2")
    add_response(item, "Number 2 is what yc would pick.", None)  # what a system says, too: shown once
    asked = [Criterion(name="fluency", question="Fluent?", kind="slider", scale_min=0, scale_max=100)]
    shown = preview_screen(draft, criteria=asked, item=item)
    assert shown is not None
    assert shown.item == item
    assert [one.letter for one in shown.responses] == ["A", "B", "C"]
    assert shown.responses[0].questions[0].scale.layout == "slider"


def test_no_preview_where_there_is_nothing_to_rate(project: Project) -> None:
    assert preview_screen(make_campaign(make_dataset(project, items=0), launch=False)) is None
