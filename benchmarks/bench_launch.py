"""A launch of a million slots, hand-out in campaigns of a thousand to a million, and the dashboard at that size.

python -m benchmarks.bench_launch

Works in a process of its own on a PostgreSQL of its own, durable as in production, and removes both.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.bench_import import MEASURE, in_own_process, printed, row, timed

if TYPE_CHECKING:
    from annotation.models import Campaign, Dataset, Project

SYSTEMS, RATINGS_PER_UNIT = 5, 5
SIZES = (1_000, 200_000, 1_000_000)  # slots
LAUNCH_SECONDS, DASHBOARD_MS, FLAT = 60, 300, 1.5
ANSWERS, JUDGED = 150, 100_000


def run() -> list[dict[str, Any]]:
    return in_own_process("benchmarks.bench_launch", MEASURE)


def measure() -> list[dict[str, Any]]:
    import django

    django.setup()
    from django.core.management import call_command

    from annotation.models import Membership, Project, Role, User

    call_command("migrate", verbosity=0)
    project = Project.objects.create(name="Benchmark", slug="benchmark")
    user = User.objects.create(username="manager")
    Membership.objects.create(project=project, user=user, role=Role.OWNER)
    rows, medians = [], {}
    for slots in SIZES:
        campaign, seconds = launched(project, slots)
        if slots == SIZES[-1]:
            name = f"Launch: {slots:,} slots of {slots // RATINGS_PER_UNIT:,} units planned, hashed and written"
            against = f"{LAUNCH_SECONDS} s"
            rows.append(row(name, seconds, "s", against=against, ratio=seconds / LAUNCH_SECONDS, target="under 1"))
        medians[slots] = hand_out(campaign)
    for slots in SIZES[1:]:
        name = f"Handing out one unit, {slots:,} slots, median of {ANSWERS}"
        against = f"{SIZES[0]:,} slots: {medians[SIZES[0]]:.1f} ms"
        target = f"at most {FLAT} times" if slots == 200_000 else "none set"
        rows.append(
            row(name, medians[slots], "ms", against=against, ratio=medians[slots] / medians[SIZES[0]], target=target)
        )
    return [*rows, *dashboard(campaign, user)]


def launched(project: Project, slots: int) -> tuple[Campaign, float]:
    from annotation.campaigns.fields.table import CampaignDraft, CriterionDraft
    from annotation.campaigns.services.lifecycle import campaign_launch
    from annotation.campaigns.services.writing import campaign_create

    dataset = make_dataset(project, slots // RATINGS_PER_UNIT // SYSTEMS)
    draft = CampaignDraft(
        name=f"{slots} slots",
        dataset=dataset,
        criteria=[CriterionDraft("quality", "How good is it?")],
        ratings_per_unit=RATINGS_PER_UNIT,
    )
    campaign = campaign_create(project=project, draft=draft)
    seconds, campaign = timed(lambda: campaign_launch(campaign=campaign))
    return campaign, seconds


def make_dataset(project: Project, n_items: int) -> Dataset:
    """Create a data set with a different output of every system for every item."""
    from annotation.core.copying import allocate_ids, copy_rows
    from annotation.models import Dataset, Item, Response, ResponseSource, System

    dataset = Dataset.objects.create(project=project, name=f"{n_items} items", slug=f"items-{n_items}")
    systems = System.objects.bulk_create(System(dataset=dataset, name=f"System {n}") for n in range(SYSTEMS))
    items = allocate_ids(Item, n_items)
    copy_rows(
        Item,
        ["id", "dataset_id", "external_id", "position", "context", "message", "meaning_representation", "split"],
        ((pk, dataset.pk, str(n), n, ["Hello."], f"What is {n}?", "", "") for n, pk in enumerate(items)),
    )
    responses = allocate_ids(Response, n_items * SYSTEMS)
    places = [(item, system) for item in items for system in systems]
    copy_rows(
        Response,
        ["id", "item_id", "text", "text_key"],
        (
            (pk, item, f"{system.name} on {item}.", f"{pk:064x}")
            for pk, (item, system) in zip(responses, places, strict=True)
        ),
    )
    copy_rows(
        ResponseSource,
        ["response_id", "item_id", "kind", "system_id", "source_context", "source_message", "raw_text"],
        ((pk, item, "system", system.pk, [], "", "") for pk, (item, system) in zip(responses, places, strict=True)),
    )
    return dataset


def hand_out(campaign: Campaign) -> float:
    """Measure median milliseconds of handing out a unit to raters who answer at once."""
    from annotation.rating.services.handout import unit_request
    from annotation.rating.services.raters import participation_start, rater_create
    from annotation.rating.services.ratings import ratings_submit

    taken = []
    for _ in range(3):
        rater = rater_create(project=campaign.project)
        participation_start(campaign=campaign, rater=rater)
        for _ in range(ANSWERS // 3):
            seconds, shown = timed(partial(unit_request, campaign=campaign, rater=rater))
            if shown is None:
                raise RuntimeError(f"{campaign} has nothing left to rate.")
            taken.append(1000 * seconds)
            ratings_submit(token=shown.token, rater=rater, values={(0, "quality"): 3})
    return float(np.median(taken))


def dashboard(campaign: Campaign, user: Any) -> list[dict[str, Any]]:
    """Measure the campaign's page and its live part with a million slots and many ratings."""
    from django.conf import settings
    from django.test import Client
    from django.urls import reverse

    settings.ALLOWED_HOSTS = ["testserver"]
    settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    judge(campaign)
    snapshot_if_needed(campaign)
    client = Client()
    client.force_login(user)
    rows = []
    for name, view in (("The campaign's page", "campaign-detail"), ("Its live part", "campaign-monitor-fragment")):
        address = reverse(f"annotation:{view}", args=[campaign.project.slug, campaign.pk])
        taken = []
        for _ in range(9):
            seconds, answer = timed(partial(client.get, address))
            if answer.status_code != 200:
                raise RuntimeError(f"{address} was answered with status {answer.status_code}.")
            taken.append(1000 * seconds)
        median = float(np.median(taken[1:]))
        against = f"{DASHBOARD_MS} ms; the first time {taken[0]:.0f} ms"
        label = f"{name}: {SIZES[-1]:,} slots, {JUDGED:,} ratings"
        rows.append(row(label, median, "ms", against=against, ratio=median / DASHBOARD_MS, target="under 1"))
    return rows


def judge(campaign: Campaign) -> None:
    """Insert ratings of a hundred raters in bulk."""
    from django.db import connection, transaction

    from annotation.models import Criterion
    from annotation.rating.services.raters import participation_start, rater_create

    raters = [rater_create(project=campaign.project) for _ in range(100)]
    for rater in raters:
        participation_start(campaign=campaign, rater=rater)
    parameters: dict[str, Any] = {
        "campaign": campaign.pk,
        "raters": [rater.pk for rater in raters],
        "criterion": Criterion.objects.get(campaign=campaign).pk,
        "units": JUDGED // RATINGS_PER_UNIT,
    }
    with transaction.atomic(), connection.cursor() as cursor:
        for statement in _JUDGE.split(";"):
            cursor.execute(statement, parameters)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE annotation_slot, annotation_unit, annotation_presentation, annotation_rating")


_JUDGE = """
    UPDATE annotation_slot s
    SET state = 'done', token = gen_random_uuid(), expires_at = NULL,
        rater_id = (%(raters)s::bigint[])[1 + (u.position * 5 + s.number) %% 100]
    FROM annotation_unit u
    WHERE u.id = s.unit_id AND u.campaign_id = %(campaign)s AND u.done_slots = 0 AND u.position < %(units)s;
    INSERT INTO annotation_presentation
        (campaign_id, unit_id, slot_id, rater_id, token, purpose, outcome, order_seed, "order", shown_at, ended_at)
    SELECT s.campaign_id, s.unit_id, s.id, s.rater_id, s.token, 'work', 'submitted', 1, '{0}',
           now() - random() * interval '10 hours', now()
    FROM annotation_slot s
    WHERE s.campaign_id = %(campaign)s AND s.rater_id = ANY(%(raters)s::bigint[]) AND s.state = 'done';
    INSERT INTO annotation_rating
        (campaign_id, presentation_id, response_id, rater_id, criterion_id, value, position, revision, extra, sent_at)
    SELECT p.campaign_id, p.id, r.response_id, p.rater_id, %(criterion)s, 1 + (hashint8(r.response_id + p.id) & 3),
           0, 0, false, p.ended_at
    FROM annotation_presentation p JOIN annotation_unitresponse r ON r.unit_id = p.unit_id
    WHERE p.campaign_id = %(campaign)s AND p.rater_id = ANY(%(raters)s::bigint[]);
    UPDATE annotation_unit u SET done_slots = 5
    WHERE u.campaign_id = %(campaign)s AND u.done_slots = 0 AND u.position < %(units)s
"""


def snapshot_if_needed(campaign: Campaign) -> None:
    """Update snapshots as the worker does between page views."""
    from annotation.quality.services import snapshots

    for campaign_id in snapshots.snapshots_waiting():
        snapshots.snapshot_update(campaign_id=campaign_id)


if __name__ == "__main__":
    printed(run, measure)
