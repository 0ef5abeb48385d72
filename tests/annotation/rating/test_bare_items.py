"""Items without any response collect references: raters write them, others rate these, and they are released."""

import io
import json
from collections import defaultdict

import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaigns.services.lifecycle import campaign_launch
from annotation.campaigns.services.readiness import launch_report
from annotation.campaigns.services.starting import campaign_start
from annotation.datasets.services.imports import dataset_import_create, dataset_import_execute
from annotation.models import Campaign, Dataset, JobState, Project, Rater, Response, Slot, User, WrittenText
from annotation.quality.services.operations import items_add
from annotation.rating.services.answers import Written
from annotation.rating.services.handout import unit_request
from annotation.rating.services.publishing import written_rate
from annotation.rating.services.raters import participation_start
from annotation.rating.services.ratings import ratings_submit
from annotation.records.services.archive import record_chunks
from annotation.records.services.verification import record_verify
from annotation.references.releases.services.releases import release_build, release_create
from annotation.references.sets.services import reference_set_create
from tests.annotation.worlds.campaigns import join, rate_next
from tests.races import race

ROWS = [
    {"id": "talk-0", "context": ["Hello."], "message": "What are you reading?"},
    {"id": "talk-1", "message": "Do you like numbers?"},
    {"id": "facts", "meaning_representation": "inform(name=Aromi, food=French)"},
    {"id": "talk-2", "message": "Where shall we go?"},
]


@pytest.fixture
def dataset(project: Project, manager: User) -> Dataset:
    content = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
    job = dataset_import_create(project=project, by=manager, name="bare", filename="bare.jsonl", content=content)
    dataset_import_execute(import_id=job.pk)
    job.refresh_from_db()
    assert job.dataset is not None, job.error
    assert not Response.objects.exists()
    return job.dataset


def started(dataset: Dataset, manager: User, **changes: object) -> Campaign:
    draft = campaign_start(project=dataset.project, dataset=dataset, template="blank", by=manager)
    Campaign.objects.filter(pk=draft.pk).update(**changes)
    draft.refresh_from_db()
    return draft


def write_all(campaign: Campaign, rater: Rater) -> None:
    """Let a rater write for every item that is handed out."""
    while (shown := unit_request(campaign=campaign, rater=rater)) is not None:
        text = f"{rater.pseudonym} has this to say about {shown.unit.item.external_id}."  # type: ignore[union-attr]
        ratings_submit(token=shown.token, rater=rater, values={}, written=Written(text, sure=True))


@pytest.mark.django_db
def test_references_are_written_rated_by_others_and_released(
    dataset: Dataset, manager: User, as_user, client: Client
) -> None:
    draft = started(dataset, manager, ratings_per_unit=2, item_limit=3)
    assert draft.writing["asks"] == "reference"
    report = launch_report(draft)
    assert (report.problems, report.units, report.slots) == ([], 3, 6)
    assert "3 items to be written about, with 6 slots" in report.launch_text
    design = reverse("annotation:campaign-preview", args=[dataset.project.slug, draft.pk])
    assert "What are you reading?" in as_user(manager).get(design).content.decode()
    campaign = campaign_launch(campaign=draft)
    assert (campaign.design["items"], campaign.design["responses"]) == (3, 0)

    client.post(reverse("annotation:rater-consent", args=[campaign.link_token]))
    page = client.get(reverse("annotation:rater-work", args=[campaign.link_token])).content.decode()
    assert "Write a reply of your own." in page
    assert not Response.objects.exists()

    assert items_add(campaign=campaign, item_limit=4, by=manager).data["items"] == 1
    raters = [join(campaign, name) for name in ("Ann", "Bob", "Cem")]
    Slot.objects.filter(campaign=campaign, state="leased").update(state="open", rater=None, token=None, expires_at=None)
    for rater in raters:
        write_all(campaign, rater)
    writers = defaultdict(set)
    for written in WrittenText.objects.select_related("presentation__unit__item"):
        writers[written.presentation.unit.item.external_id].add(written.rater.pseudonym)  # type: ignore[union-attr]
    assert writers == {row["id"]: {"Ann", "Bob"} for row in ROWS}  # each item twice, no slot more
    assert not Slot.objects.filter(campaign=campaign).exclude(state="done").exists()
    findings = record_verify(io.BytesIO(b"".join(record_chunks(campaign))))
    assert [finding.what for finding in findings if not finding.ok] == []

    second = written_rate(campaign=campaign, by=manager)
    Campaign.objects.filter(pk=second.pk).update(consent="", ratings_per_unit=2, max_units_per_rater=None)
    second = campaign_launch(campaign=Campaign.objects.get(pk=second.pk))
    for rater in raters:
        participation_start(campaign=second, rater=rater)
        while shown := rate_next(second, rater, value=5):
            assert rater.pseudonym not in shown.unit.responses.get().text  # type: ignore[union-attr]
    assert not Slot.objects.filter(campaign=second).exclude(state="done").exists()

    gold = reference_set_create(dataset=dataset, name="Written", campaigns=[second], source_kinds=["human"])
    release = release_create(reference_set=gold, method="linear", parameters={}, exclusion_rules=[], by=manager)
    release_build(release_id=release.pk)
    release.refresh_from_db()
    assert release.state == JobState.DONE, release.error
    weighed = set(release.weights.values_list("response__item__external_id", "weight"))
    assert weighed == {(row["id"], 1.0) for row in ROWS}
    assert release.weights.count() == 8


@pytest.mark.django_db(transaction=True)
def test_two_raters_who_ask_at_once_do_not_get_the_same_slot(dataset: Dataset, manager: User) -> None:
    campaign = campaign_launch(campaign=started(dataset, manager, ratings_per_unit=1, item_limit=1))
    ann, bob = join(campaign, "Ann"), join(campaign, "Bob")
    first, second = race(
        lambda: unit_request(campaign=campaign, rater=ann), lambda: unit_request(campaign=campaign, rater=bob)
    )
    assert (first is None, second is None) == (False, True)
