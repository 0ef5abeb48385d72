"""What raters wrote and answered about themselves travels under their pseudonyms; what was erased does not."""

import pytest

from annotation.models import JobState, Participation, Project, RaterAnswer, ResponseSource, User, WrittenText
from annotation.rating.services.answers import Written
from annotation.rating.services.handout import unit_request
from annotation.rating.services.publishing import written_add
from annotation.rating.services.questions import questions_answer
from annotation.rating.services.ratings import ratings_submit
from annotation.records.services.erasure import rater_erase
from annotation.transfer.services.export import project_chunks
from annotation.transfer.services.imports import project_import_create, project_import_execute
from tests.annotation.worlds.campaigns import join, make_campaign, make_dataset

QUESTION = {"name": "language", "question": "Which is your first language?", "kind": "text"}
WRITING = {"asks": "reference", "question": "Write a reply.", "least": 1, "most": 80}


def answers_of(project: Project) -> list[tuple[str, list[str]]]:
    answers = RaterAnswer.objects.filter(participation__campaign__project=project).order_by("pk")
    return list(answers.values_list("participation__rater__pseudonym", "values"))


def writers_of(project: Project) -> list[tuple[str, str]]:
    texts = WrittenText.objects.filter(campaign__project=project).order_by("pk")
    return list(texts.values_list("rater__pseudonym", "text"))


@pytest.mark.django_db
def test_texts_and_answers_travel_with_equal_hashes_and_erased_ones_stay_erased(project: Project) -> None:
    owner = User.objects.create_user("olga")
    questions = {"when": "before", "questions": [QUESTION]}
    dataset = make_dataset(project, items=2)
    campaign = make_campaign(dataset, criteria=[], writing=WRITING, questions=questions)
    erased, known = join(campaign, "Marta Meier"), join(campaign)
    for number, rater in enumerate((erased, known)):
        questions_answer(campaign=campaign, rater=rater, given={"language": [f"Elvish {number}"]})
        shown = unit_request(campaign=campaign, rater=rater)
        assert shown is not None
        ratings_submit(token=shown.token, rater=rater, values={}, written=Written(f"I wrote this {number}."))
    assert written_add(campaign=campaign) == 2
    rater_erase(rater=erased)
    erased.refresh_from_db()

    archive = b"".join(project_chunks(project))
    job = project_import_create(by=owner, filename="p.zip", content=archive, name="Moved")
    project_import_execute(import_id=job.pk)
    job.refresh_from_db()
    assert job.state == JobState.DONE, (job.error, job.report)
    kinds = {row["kind"] for row in job.report["hashes"]}
    assert kinds == {"data set", "ratings", "texts by raters", "answers of raters"}
    assert [row for row in job.report["hashes"] if not row["equal"]] == []

    copy = job.project
    assert copy is not None
    assert answers_of(copy) == answers_of(project) == [(known.pseudonym, ["Elvish 1"])]
    assert writers_of(copy) == writers_of(project)
    assert {name for name, _ in writers_of(copy)} == {erased.pseudonym, known.pseudonym}
    assert "Marta Meier" not in archive.decode(errors="ignore")
    sources = ResponseSource.objects.filter(item__dataset__project=copy, kind="human", written_by__isnull=False)
    assert {source.written_by.project for source in sources if source.written_by} == {copy}
    assert set(sources.values_list("written_by__pseudonym", "response__text")) == set(writers_of(copy))
    asked = Participation.objects.filter(campaign__project=copy)
    assert not asked.filter(questions_answered_at=None).exists()  # that the erased one was asked stays
