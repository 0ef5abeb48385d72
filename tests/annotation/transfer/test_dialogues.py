"""A project with rated dialogues is the same, turns and their ratings included, after it was moved."""

from typing import Any

import pytest

from annotation.models import JobState, Membership, Project, Rating, Response, Role, User
from annotation.rating.services.handout import unit_request
from annotation.rating.services.ratings import ratings_submit
from annotation.transfer.services.export import project_chunks
from annotation.transfer.services.imports import project_import_create, project_import_execute
from tests.annotation.worlds.campaigns import join
from tests.annotation.worlds.dialogues import make_dialogue_campaign, make_dialogues


def content_of(project: Project) -> tuple[list[Any], list[Any]]:
    turns = Response.objects.filter(item__dataset__project=project).order_by("pk").values_list("text_key", "turns")
    ratings = Rating.objects.filter(campaign__project=project).order_by("pk")
    return list(turns), list(ratings.values_list("criterion__name", "criterion__scope", "turn", "value"))


@pytest.mark.django_db
def test_turns_and_their_ratings_travel_with_equal_hashes(project: Project) -> None:
    owner = User.objects.create_user("olga")
    Membership.objects.create(project=project, user=owner, role=Role.OWNER)
    campaign = make_dialogue_campaign(make_dialogues(project))
    rater = join(campaign)
    shown = unit_request(campaign=campaign, rater=rater)
    assert shown is not None
    values = {(0, "sense", 1): 2, (0, "sense", 3): 5, (0, "overall"): 4}
    ratings_submit(token=shown.token, rater=rater, values=values)

    job = project_import_create(by=owner, filename="p.zip", content=b"".join(project_chunks(project)), name="Moved")
    project_import_execute(import_id=job.pk)
    job.refresh_from_db()
    assert job.state == JobState.DONE, (job.error, job.report)
    assert {row["kind"] for row in job.report["hashes"]} >= {"data set", "ratings"}
    assert [row for row in job.report["hashes"] if not row["equal"]] == []
    assert job.project is not None
    assert content_of(job.project) == content_of(project)
    assert len(content_of(project)[1]) == 3
