from collections.abc import Callable
from dataclasses import asdict
from functools import partial

import pytest

from annotation.campaigns.fields.table import CriterionDraft
from annotation.campaigns.scales import Scale
from annotation.models import Campaign, Criterion, Presentation, Project, Purpose
from annotation.rating.selectors.screens import criteria_of, keys_of, preview_screen, screen
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
        (["not at all", "a little", "somewhat", "mostly", "all of it"], "row"),
        (["bad", "poor", "fair", "good", "excellent"], "row"),
        (["not at all fluent", "a little", "some", "much", "all"], "row"),
        (["contradictory", "unrelated", "somewhat", "mostly", "entailed"], "wide"),
        (["incomprehensible", "a little", "somewhat", "mostly", "all"], "legend"),
        (["the text contradicts all that was said before in it", "much", "half", "little", "none"], "legend"),
    ],
)
def test_labels_stand_where_no_word_is_broken(labels: list[str], layout: str) -> None:
    assert scale(labels=labels).layout == layout


@pytest.mark.parametrize(
    ("points", "phone", "desk"), [(2, 2, 2), (7, 7, 7), (8, 4, 8), (11, 6, 11), (14, 7, 7), (25, 7, 13)]
)
def test_points_stand_in_one_row_or_in_rows_of_equal_length(points: int, phone: int, desk: int) -> None:
    assert scale(scale_max=points).columns == (phone, desk)


@pytest.mark.parametrize(
    ("strength", "signs"), [(1, "A = B"), (3, "A++ A+ A = B B+ B++"), (4, "A4 A3 A2 A1 = B1 B2 B3 B4")]
)
def test_a_preference_has_signs_for_where_words_have_no_room(strength: int, signs: str) -> None:
    criterion = Criterion(kind="preference", scale_min=-strength, scale_max=strength, ties=True)
    assert [criterion.scale.sign(value) for value, _ in criterion.scale.points] == signs.split()


def test_a_scale_of_many_points_shows_only_its_ends() -> None:
    nine_points = scale(scale_max=9, labels=[f"point {n}" for n in range(1, 10)])
    assert nine_points.layout == "numbers"
    assert nine_points.ends_labels == ("point 1", "point 9")


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
def test_either_every_point_has_its_own_key_or_none_has(values: range, keys: list[str]) -> None:
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
    criterion = Criterion(kind="preference", scale_min=-strength, scale_max=strength, ties=ties)
    assert criterion.scale.points == expected


def test_every_degree_of_a_preference_has_its_own_label() -> None:
    criterion = Criterion(kind="preference", scale_min=-5, scale_max=5, ties=True)
    words = [label for _, label in criterion.scale.points]
    assert len(set(words)) == len(words) == 11


def test_a_preferences_labels_do_not_depend_on_whether_ties_are_allowed() -> None:
    criterion = Criterion(kind="preference", scale_min=-1, scale_max=1, labels=["second", "same", "first"])
    assert criterion.scale.points == [(1, "first"), (-1, "second")]
    criterion.ties = True
    assert criterion.scale.points == [(1, "first"), (0, "same"), (-1, "second")]


def test_texts_are_in_the_presentations_order_and_earlier_answers_are_shown(project: Project) -> None:
    campaign = rating_screens.choices(project, rating_screens.RELEVANT, comment="optional", cannot_judge_reasons=["No"])
    rater = join(campaign)
    presentation = unit_request(campaign=campaign, rater=rater)
    assert presentation is not None
    before = screen(presentation)
    by_number = dict(presentation.unit.unit_responses.values_list("number", "response__text"))
    assert [response.text for response in before.responses] == [by_number[number] for number in presentation.order]
    assert [response.letter for response in before.responses] == ["A", "B"]

    values = {(0, "relevance"): "4", (1, "relevance"): "2", (0, "better"): "-2"}
    ratings_submit(token=presentation.token, rater=rater, values=values, comment="So so.")
    ratings_submit(
        token=presentation.token, rater=rater, values={(0, "relevance"): "5"}, cannot_judge={1: "No"}, comment="Better."
    )
    after = screen(Presentation.objects.get(pk=presentation.pk))
    assert after.answered
    assert [response.questions[0].text for response in after.responses] == ["5", ""]
    assert [response.reason for response in after.responses] == ["", "No"]
    assert after.shared[0].text == ""
    assert after.comment == "Better."


def test_a_refused_answer_is_shown_with_the_error_in_plain_words(project: Project) -> None:
    campaign = rating_screens.sliders(project)
    presentation = unit_request(campaign=campaign, rater=join(campaign))
    assert presentation is not None
    question = (
        screen(presentation, sent={"r0-adequacy": "101"}, errors={"r0-adequacy": ["…"]}).responses[0].questions[0]
    )
    assert (question.text, question.error) == ("101", "Please give a number from 0 to 100.")


def test_a_long_list_remembers_its_draft(project: Project) -> None:
    campaign = rating_screens.lists(project)
    rater = join(campaign)
    presentation = unit_request(campaign=campaign, rater=rater)
    assert presentation is not None
    draft_save(token=presentation.token, rater=rater, fields={"r1-fluency": "3"})
    reloaded = screen(Presentation.objects.get(pk=presentation.pk))
    assert reloaded.is_long
    assert [response.questions[0].text for response in reloaded.responses][:3] == ["", "3", ""]


def test_a_repeat_shows_the_unit_and_its_own_answer(project: Project) -> None:
    campaign = rating_screens.singles(project)
    rater = join(campaign)
    first = unit_request(campaign=campaign, rater=rater)
    assert first is not None
    ratings_submit(token=first.token, rater=rater, values={(0, "fluency"): 4, (0, "relevance"): 4})
    repeat = Presentation.objects.create(
        campaign=campaign,
        rater=rater,
        purpose=Purpose.REPEAT,
        unit=first.unit,
        repeats=first,
        order=first.order,
        shown_at=first.shown_at,
    )
    assert screen(repeat).responses[0].text == screen(first).responses[0].text
    ratings_submit(token=repeat.token, rater=rater, values={(0, "fluency"): 1, (0, "relevance"): 2})
    repeat.refresh_from_db()
    assert [question.text for question in screen(repeat).responses[0].questions] == ["1", "2"]


def test_the_standard_is_shown_with_the_unit(project: Project) -> None:
    campaign = rating_screens.magnitudes(project)
    presentation = unit_request(campaign=campaign, rater=join(campaign))
    assert presentation is not None
    assert screen(presentation).standard == presentation.unit.standard.text


def test_criteria_are_cached_after_launch(project: Project, django_assert_num_queries: object) -> None:
    campaign = rating_screens.singles(project)
    criteria_of(campaign)
    with django_assert_num_queries(0):  # type: ignore[operator]
        assert [criterion.name for criterion in criteria_of(campaign)] == ["fluency", "relevance"]


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (rating_screens.sliders, {"numbers", "slider"}),
        (rating_screens.magnitudes, {"numbers"}),
        (rating_screens.choices, {"digits", "points", "equal"}),
        (rating_screens.lists, {"digits", "points", "several"}),
        (partial(rating_screens.singles, comment="optional"), {"digits", "points", "several", "comment"}),
        (partial(rating_screens.qualified, cannot_judge_reasons=["Garbled"]), {"digits", "points", "reasons"}),
    ],
)
def test_only_keys_that_work_are_explained(
    project: Project, make: Callable[[Project], Campaign], expected: set[str]
) -> None:
    assert {name for name, works in asdict(keys_of(make(project))).items() if works} == expected


def test_digits_are_not_explained_if_there_are_more_points_than_digits(project: Project) -> None:
    many = CriterionDraft("quality", "How good is it?", scale_max=25)
    keys = keys_of(make_campaign(make_dataset(project), criteria=[many]))
    assert (keys.digits, keys.points) == (False, True)


def test_the_preview_shows_a_chosen_item_with_unsaved_criteria(project: Project) -> None:
    dataset = make_dataset(project)
    draft = make_campaign(dataset, launch=False, presentation="list")
    item = dataset.items.get(external_id="item-2")
    add_response(item, "Number 2 is what yc would pick.", None)  # also a system's text: shown once
    criteria = [Criterion(name="fluency", question="Fluent?", kind="slider", scale_min=0, scale_max=100)]
    shown = preview_screen(draft, criteria=criteria, item=item)
    assert shown is not None
    assert shown.item == item
    assert [response.letter for response in shown.responses] == ["A", "B", "C"]
    assert shown.responses[0].questions[0].scale.layout == "slider"


def test_there_is_no_preview_without_items(project: Project) -> None:
    assert preview_screen(make_campaign(make_dataset(project, items=0), launch=False)) is None
