"""Two hosts share a study, a mining run and a score run; one that vanishes costs a retry, no result."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from annotation.mining import tasks as mining_tasks
from annotation.mining.selectors import candidate_rows
from annotation.mining.services.runs import mining_run_execute
from annotation.models import Job, JobState, MiningRun, MiningShard, Project
from correlations import tasks as study_tasks
from correlations.models import Study
from correlations.services.execution import study_execute
from correlations.services.studies import study_create
from metrics import tasks as score_tasks
from metrics.models import ScoreRun
from metrics.selectors.arrays import run_arrays
from metrics.services.runs import score_run_execute
from tests.annotation.mining.services.test_worker import N_SEEDS, many_items, many_triples
from tests.annotation.worlds.mined import asked_run, indexed_corpus, seeds_dataset, triples_file
from tests.metrics.runs import cut_by_item, waiting_run
from tests.metrics.world import World, make_world
from tests.services import servers
from tests.services.hosts import Network, network
from tests.services.site import Site, running_site
from tests.worker import wait_until

pytestmark = pytest.mark.services
HOSTS = ("one", "two")
N_ITEMS = 120
LONG = {"assignments": 8_000, "unit_size": 5, "bootstrap": 40}  # seconds


@pytest.fixture(scope="module")
def hosts() -> Iterator[Network]:
    with network(*HOSTS) as made:
        yield made


@pytest.fixture
def site(hosts: Network, tmp_path: Path) -> Iterator[Site]:
    with (
        servers.postgres(host=hosts.address, network=hosts.cidr) as database,
        running_site(tmp_path, database) as site,
    ):
        site.start_beat()
        for host in HOSTS:
            site.start_worker(host, host=hosts.namespace(host))
        wait_until(lambda: all("ready" in site.log(host) for host in HOSTS), seconds=120)
        yield site


@pytest.fixture
def project(site: Site) -> Project:
    return Project.objects.create(name="Chit-chat", slug="chit-chat")


def host_of(site: Site, task: str) -> str:
    """Return the host whose worker got a task of this name first."""
    received = {host: re.search(rf"Task {task}\[[\w-]+\] received", site.log(host)) for host in HOSTS}
    (host,) = (host for host in HOSTS if received[host])
    return host


def other(host: str) -> str:
    return next(each for each in HOSTS if each != host)


def has_ended(job: Job) -> Callable[[], bool]:
    def ended() -> bool:
        job.refresh_from_db(fields=["state", "error", "attempt"])
        return job.is_finished

    return ended


def test_a_mining_run_goes_on_when_the_host_that_holds_it_is_killed(
    site: Site, hosts: Network, project: Project
) -> None:
    dataset = seeds_dataset(project, items=many_items(N_SEEDS))
    corpus = indexed_corpus(project, content=triples_file(many_triples(1500)))
    run = asked_run(project, dataset, corpus, n=15, negatives=1)
    mining_tasks.mining_run_execute.delay(run.pk)
    shards = MiningShard.objects.filter(run=run)

    wait_until(lambda: shards.filter(state=JobState.DONE).count() >= 2, seconds=60, every=0.02)
    holder = host_of(site, "annotation.mining.tasks.mining_run_execute")
    site.kill(holder)
    assert shards.exclude(state=JobState.DONE).exists(), "The run was over too soon to be disturbed."
    wait_until(has_ended(run), seconds=120)

    assert (run.state, run.error, run.attempt) == (JobState.DONE, "", 2)
    assert "mining_run_help" in site.log(other(holder)), "the other host shared it before"
    calm = asked_run(project, dataset, corpus, n=15, negatives=1)
    mining_run_execute(run_id=calm.pk)
    assert sorted(candidate_rows(run), key=repr) == sorted(candidate_rows(calm), key=repr)
    assert MiningRun.objects.get(pk=run.pk).report == MiningRun.objects.get(pk=calm.pk).report


def test_a_score_run_loses_nothing_when_a_host_that_helps_is_killed(site: Site, project: Project) -> None:
    world = make_world(project, n_items=N_ITEMS, n_raters=1)
    run = waiting_run(world, "bleu", tokenize="whitespace")
    cut_by_item(run, N_ITEMS)
    score_tasks.execute.delay(run.pk)

    def is_shared() -> bool:
        return run.shards.filter(state=JobState.DONE).count() >= 3 and any(
            "metrics.tasks.help_out" in site.log(host) for host in HOSTS
        )

    wait_until(is_shared, every=0.02)
    helper = host_of(site, "metrics.tasks.help_out")
    assert helper != host_of(site, "metrics.tasks.execute")
    site.kill(helper)
    assert run.shards.exclude(state=JobState.DONE).exists(), "The run was over too soon to be disturbed."
    wait_until(has_ended(run), seconds=90)

    run.refresh_from_db()
    assert (run.state, run.error, run.attempt) == (JobState.DONE, "", 1)
    assert run.shards.exclude(attempt=1).count() <= 1
    shared, scores = run_arrays(run).packed.tobytes(), scores_of(run)
    run.delete()
    calm = waiting_run(world, "bleu", tokenize="whitespace")
    score_run_execute(run_id=calm.pk)
    assert run_arrays(ScoreRun.objects.get(pk=calm.pk)).packed.tobytes() == shared
    assert scores_of(calm) == scores


def scores_of(run: ScoreRun) -> list[tuple[float, ...]]:
    return list(run.scores.order_by("position").values_list("score", "low", "high"))


def test_a_study_goes_on_when_the_network_of_its_host_is_cut_and_nothing_is_written_when_it_is_back(
    site: Site, hosts: Network, project: Project
) -> None:
    world = make_world(project, n_items=200)
    study = started_study(world)
    study_tasks.execute.delay(study.pk)

    def is_computing() -> bool:
        study.refresh_from_db()
        assert study.state in (JobState.QUEUED, JobState.RUNNING), "The study was over too soon to be disturbed."
        return study.progress_note == "Table" and study.progress_done > 0

    wait_until(is_computing)
    holder = host_of(site, "correlations.tasks.execute")
    if hosts.namespaces:
        hosts.cut(holder)
    else:
        site.kill(holder)
    wait_until(has_ended(study), seconds=120)
    study.refresh_from_db()
    assert (study.state, study.error, study.attempt) == (JobState.DONE, "", 2)
    result = without_seconds(study)

    if hosts.namespaces:
        hosts.mend(holder)
        wait_until(lambda: "job lost" in site.log(holder), seconds=120)
        study.refresh_from_db()
        assert (study.attempt, without_seconds(study)) == (2, result)
    Study.objects.all().delete()
    calm = started_study(world)
    study_execute(study_id=calm.pk)
    calm.refresh_from_db()
    assert without_seconds(calm) == result


def started_study(world: World) -> Study:
    study, _ = study_create(project=world.project, name="Cats", specification=world.specification(**LONG), by=None)
    return study


def without_seconds(study: Study) -> dict[str, object]:
    return {key: value for key, value in (study.result or {}).items() if key != "seconds"}
