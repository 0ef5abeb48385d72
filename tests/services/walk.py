"""The way from texts to a study, over HTTP and through real workers, as a site of any servers must go it."""

import asyncio
import runpy
from contextlib import chdir

import pytest

from annotation.campaigns.services.lifecycle import campaign_close
from annotation.mining.tasks import corpus_index
from annotation.models import JobState, Project, Rating, Slot, SlotState, User
from benchmarks.raters import load
from tests.annotation.mining.services.test_worker import many_triples
from tests.annotation.worlds.campaigns import make_campaign, make_dataset
from tests.annotation.worlds.mined import triples_file, uploaded_corpus
from tests.services.site import ROOT, Site
from tests.worker import wait_until

PASSWORD = "a-password-of-theirs"
ITEMS, RATERS = 6, 3
N_TRIPLES = 30_000


def start(site: Site) -> None:
    """Start web, the scheduler and a worker, which has all queues."""
    site.start_beat()
    site.start_worker("worker")
    site.start_web()
    wait_until(site.is_well, seconds=120)


def walk(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    User.objects.create_user("reader", password=PASSWORD)
    with chdir(ROOT):
        runpy.run_path("client/examples/tour.py")["main"](site.address, "reader", PASSWORD)
    printed = capsys.readouterr().out
    assert "+0.875  I did. What a strike." in printed  # as in the tour's own test
    assert "sBLEU, original:" in printed
    rate(site)


def rate(site: Site) -> None:
    """Let raters answer everything over HTTP, each item the number of times that the design asks."""
    project = Project.objects.create(name="Chit-chat", slug="chit-chat")
    campaign = make_campaign(make_dataset(project, items=ITEMS), ratings_per_unit=2)
    report = asyncio.run(load(site.port, f"/r/{campaign.link_token}/", RATERS, 60, 0.01))
    slots = Slot.objects.filter(unit__campaign=campaign)
    assert report["errors"] == 0, report
    assert len(report["answers"]) == slots.count() == 2 * campaign.units.count()
    assert set(slots.values_list("state", flat=True)) == {SlotState.DONE}
    assert Rating.objects.filter(presentation__campaign=campaign).count() == slots.count()
    campaign_close(campaign=campaign)


def lose_a_worker(site: Site) -> None:
    """Kill the worker in the middle of a job: another does it, at the second attempt."""
    project = Project.objects.get(slug="chit-chat")
    corpus = uploaded_corpus(project, content=triples_file(many_triples(N_TRIPLES)))
    corpus_index.delay(corpus.pk)

    def is_reading() -> bool:
        corpus.refresh_from_db(fields=["state", "progress_note"])
        return corpus.state == JobState.RUNNING and "triples" in corpus.progress_note

    def has_ended() -> bool:
        corpus.refresh_from_db(fields=["state", "error", "attempt", "n_triples"])
        return corpus.is_finished

    wait_until(is_reading, every=0.02)
    site.kill("worker")
    site.start_worker("another")
    wait_until(has_ended, seconds=120)
    assert (corpus.state, corpus.error, corpus.attempt, corpus.n_triples) == (JobState.DONE, "", 2, N_TRIPLES)
