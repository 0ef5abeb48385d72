import json
import re

import pytest
from django.urls import reverse

from annotation.mining import tasks
from annotation.mining.services.runs import mining_run_execute
from annotation.mining.services.storing import mining_run_store
from annotation.models import AuditEntry, Campaign, JobState, MinedCandidate, MiningRun, Project, ResponseSource, User
from tests.annotation.worlds.mined import asked_run, indexed_corpus, seeds_dataset

HTMX = {"HX-Request": "true"}
FORM = {
    "seed_source": "kind:seed",
    "n": 3,
    "parrot": "on",
    "negatives": 1,
    "near_duplicate": 0.9,
    "alpha": 0.5,
    "epsilon": 0,
    "depth": 10,
    "seed": 7,
}


def url(name: str, *args: object) -> str:
    return reverse(f"annotation:{name}", args=args)


@pytest.fixture(autouse=True)
def data_folder(settings, tmp_path) -> None:
    settings.DATA_DIR = tmp_path


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ids that were queued; nothing is sent to a worker."""
    ids: list[int] = []
    monkeypatch.setattr(tasks.mining_run_execute, "delay_on_commit", ids.append)
    return ids


@pytest.fixture
def run(project: Project) -> MiningRun:
    run = asked_run(project, seeds_dataset(project), indexed_corpus(project), negatives=1)
    mining_run_execute(run_id=run.pk)
    run.refresh_from_db()
    return run


def test_a_run_is_created_then_shown_with_its_progress_and_result(
    as_user, project: Project, manager: User, queued
) -> None:
    client = as_user(manager)
    form_url = url("mining-run-create", project.slug)
    assert "No data set yet" in client.get(form_url).content.decode()
    seeds_dataset(project)
    assert "No corpus is indexed yet" in client.get(form_url).content.decode()
    corpus = indexed_corpus(project)
    form = client.get(form_url, {"corpus": corpus.slug}).content.decode()
    for text in ("Pool (11 triples)", "Original response (3)", "dev (1)", "nfc-space"):
        assert text in form
    hygiene = {"mask_urls": "on", "language": "en", "max_tokens": 6, "blocklist": "bridge, kitchen table\nsnow"}
    answer = client.post(form_url, {**FORM, **hygiene, "corpus": corpus.pk, "splits": ["test"]})
    run = MiningRun.objects.get()
    assert queued == [run.pk]
    assert run.specification["seeds"] == {"kind": "seed", "system": "", "splits": ["test"]}
    steps = {step["step"]: step for step in run.specification["mining"]["hygiene"]}
    assert steps["blocklist"]["phrases"] == ["bridge", "kitchen table", "snow"]
    assert (steps["length"]["min_tokens"], steps["length"]["max_tokens"]) == (0, 6)
    assert "mask_emails" not in steps
    page = url("mining-run-detail", project.slug, run.pk)
    assert answer.headers["Location"] == page
    assert "Next in line" in client.get(page).content.decode()
    assert "hx-get" in client.get(page, {"progress": 1}, headers=HTMX).content.decode()
    mining_run_execute(run_id=run.pk)
    assert client.get(page, {"progress": 1}, headers=HTMX).headers["HX-Refresh"] == "true"
    shown = client.get(page).content.decode()
    for text in ("Add to the data set", "Mined texts kept per seed", "Blocklist", "mining.v1|n:3"):
        assert text in shown
    rows = json.loads(client.get(page, {"format": "json"}).getvalue())
    kept = sum(row["count"] for row in rows if row["what"] == "candidates" and row["fate"] == "kept")
    assert kept == MinedCandidate.objects.filter(run=run, fate="kept").count()


def test_each_count_is_in_the_column_of_its_fate(as_user, project: Project, viewer: User, run: MiningRun) -> None:
    """The database does not preserve the order of a report's keys."""
    shown = as_user(viewer).get(url("mining-run-detail", project.slug, run.pk)).content.decode()
    (row,) = re.findall(r'<th scope="row">Mined</th>(.*?)</tr>', shown, re.DOTALL)
    cells = [int(number) for number in re.findall(r">(\d+)<", row)]
    counted = MinedCandidate.objects.filter(run=run, kind="mined")
    fates = [counted.filter(fate=fate).count() for fate in ("kept", "duplicate", "dropped")]
    assert cells == [sum(fates), *fates]
    assert fates[1] != fates[2]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"n": 0, "parrot": "", "negatives": 0}, "unless the parrot or random"),
        ({"near_duplicate": 3}, "a number from 0.1 to 1"),
        ({"language": "qq"}, "a tag that begins with one of"),
        ({"min_tokens": 9, "max_tokens": 3}, "max_tokens"),
        ({"seed_source": "kind:human", "splits": ["dev"]}, "accepted: at least one seed"),
    ],
)
def test_a_bad_form_shows_the_problem(as_user, project, manager, queued, fields: dict, message: str) -> None:
    seeds_dataset(project)
    corpus = indexed_corpus(project)
    answer = as_user(manager).post(url("mining-run-create", project.slug), {**FORM, "corpus": corpus.pk, **fields})
    assert answer.status_code == 200
    shown = answer.content.decode()
    assert message in shown
    assert "errorlist" in shown or 'role="alert"' in shown
    assert not MiningRun.objects.exists()
    assert queued == []


def test_the_data_set_is_chosen_if_there_are_several(as_user, project: Project, manager: User) -> None:
    indexed_corpus(project)
    for name in ("Talk", "More"):
        seeds_dataset(project, name)
    client, form_url = as_user(manager), url("mining-run-create", project.slug)
    assert "For which data set?" in client.get(form_url).content.decode()
    assert "Mined responses per seed" in client.get(form_url, {"dataset": "more"}).content.decode()
    assert client.get(form_url, {"dataset": "gone"}).status_code == 404


def test_candidates_are_browsed_seed_by_seed(as_user, project: Project, viewer: User, run: MiningRun) -> None:
    client, page = as_user(viewer), url("mining-run-candidates", project.slug, run.pk)
    shown = client.get(page).content.decode()
    for text in ("Would you like some tea?", "Yes please, tea would be lovely.", "the seed", "Original conversation"):
        assert text in shown
    for candidate in MinedCandidate.objects.filter(run=run, fate="kept"):
        assert candidate.text in shown.replace("&#x27;", "'")
    answer = client.get(page, {"fate": "duplicate"}, headers=HTMX)
    assert "HX-Request" in answer.headers["Vary"]
    part = answer.content.decode()
    assert "<html" not in part
    history_headers = {**HTMX, "HX-History-Restore-Request": "true"}
    assert "<html" in client.get(page, {"fate": "duplicate"}, headers=history_headers).content.decode()
    assert "is-kept" not in part
    assert "is-duplicate" in part
    assert "No matches" in client.get(page, {"text": "nowhere to be found"}).content.decode()
    assert "The filter is not valid" in client.get(page, {"fate": "eaten"}).content.decode()


def test_candidates_are_paged_by_position(as_user, project, viewer, run, monkeypatch) -> None:
    monkeypatch.setattr(
        "annotation.mining.selectors.candidate_page.__kwdefaults__",
        {
            "after": None,
            "before": None,
            "size": 2,
        },
    )
    client, page = as_user(viewer), url("mining-run-candidates", project.slug, run.pk)
    first = client.get(page, {"fate": "kept"}).content.decode()
    assert "fate=kept&amp;after=1" in first
    second = client.get(page, {"fate": "kept", "after": 1}).content.decode()
    assert "Will it rain tomorrow?" in second
    assert "before=2" in second
    assert 'rel="next"' not in second


@pytest.mark.parametrize("file_format", ["csv", "json", "jsonl", "parquet"])
def test_candidates_are_downloaded_with_the_filter(as_user, project, viewer, run, file_format: str) -> None:
    address = url("mining-run-download", project.slug, run.pk, file_format)
    answer = as_user(viewer).get(address, {"fate": "kept"})
    assert answer.status_code == 200
    content = answer.getvalue()
    assert len(content) > 100
    if file_format == "json":
        rows = json.loads(content)
        assert len(rows) == MinedCandidate.objects.filter(run=run, fate="kept").count()
        assert {row["fate"] for row in rows} == {"kept"}
    assert as_user(viewer).get(url("mining-run-download", project.slug, run.pk, "docx")).status_code == 404


def test_kept_candidates_are_added_once_and_can_be_rated(as_user, project, manager, viewer, run) -> None:
    page = url("mining-run-detail", project.slug, run.pk)
    assert "become references of Talk" in as_user(viewer).get(page).content.decode()
    assert (
        "data-dialog-open"
        not in as_user(viewer).get(page).content.decode().split("store-card")[1].split("</section>")[0]
    )
    client = as_user(manager)
    added = client.post(url("mining-run-store", project.slug, run.pk), follow=True).content.decode()
    assert "candidates to “Talk” as references" in added
    assert "Rate them" in added
    n_sources = ResponseSource.objects.count()
    repeated = client.post(url("mining-run-store", project.slug, run.pk), follow=True).content.decode()
    assert "accepted: once for each run" in repeated
    assert ResponseSource.objects.count() == n_sources
    assert AuditEntry.objects.filter(verb="mining.store").count() == 1
    answer = client.post(url("mining-run-rate", project.slug, run.pk))
    campaign = Campaign.objects.get()
    assert answer.headers["Location"] == url("campaign-step", project.slug, campaign.pk, "what")
    assert client.get(answer.headers["Location"]).status_code == 200


@pytest.fixture
def near(project: Project) -> list[MinedCandidate]:
    """Kept near-duplicates of a run: several, as sharing three of ten shingles is enough."""
    run = asked_run(project, seeds_dataset(project), indexed_corpus(project), near_duplicate=0.3)
    mining_run_execute(run_id=run.pk)
    near_duplicates = (
        MinedCandidate.objects.filter(run=run, fate="kept").exclude(near_duplicate="").select_related("run")
    )
    return list(near_duplicates.order_by("pk"))


def left_out() -> set[int]:
    return set(MinedCandidate.objects.filter(left_out=True).values_list("pk", flat=True))


def test_a_manager_chooses_near_duplicates_one_by_one(as_user, project, manager, viewer, near) -> None:
    first, second = near[:2]
    run = first.run
    page, choose = (url(name, project.slug, run.pk) for name in ("mining-run-candidates", "mining-run-near"))
    assert 'name="take"' not in as_user(viewer).get(page).content.decode()
    client = as_user(manager)
    shown = client.get(page).content.decode()
    assert shown.count('name="take"') == shown.count("checked>") == len(near)
    assert f"{len(near)} kept texts are almost the same as a better ranked one:" in shown
    assert "all will be added" in shown
    answer = client.post(f"{choose}?near=on", {"shown": [first.pk, second.pk], "take": [second.pk]})
    assert answer.headers["Location"] == f"{page}?near=on"
    assert left_out() == {first.pk}
    bar = client.post(choose, {"shown": [first.pk, second.pk], "take": [first.pk]}, headers=HTMX).content.decode()
    assert "<html" not in bar
    assert f"{len(near) - 1} will be added, 1 left out" in bar
    assert left_out() == {second.pk}
    rows = json.loads(client.get(url("mining-run-download", project.slug, run.pk, "json")).getvalue())
    assert [row["left_out"] for row in rows].count(True) == 1


def test_a_manager_adds_or_leaves_out_all_near_duplicates_at_once(as_user, project, manager, near) -> None:
    run = near[0].run
    page, choose = (url(name, project.slug, run.pk) for name in ("mining-run-detail", "mining-run-near"))
    client = as_user(manager)
    assert client.post(choose, {"every": "leave", "back": "run"}).headers["Location"] == page
    assert left_out() == {candidate.pk for candidate in near}
    assert "all will be" in client.get(page).content.decode()
    client.post(choose, {"every": "add"})
    assert left_out() == set()
    client.post(url("mining-run-store", project.slug, run.pk))
    assert "accepted: once for each run" in client.post(choose, {"every": "leave"}, follow=True).content.decode()
    assert left_out() == set()
    assert 'name="take"' not in client.get(url("mining-run-candidates", project.slug, run.pk)).content.decode()


def test_only_near_duplicates_can_be_left_out(as_user, project, manager, near) -> None:
    distinct = MinedCandidate.objects.filter(run=near[0].run, near_duplicate="").earliest("pk")
    choose = url("mining-run-near", project.slug, near[0].run_id)
    answer = as_user(manager).post(choose, {"shown": [distinct.pk, "x"]}, headers=HTMX).content.decode()
    assert f"Found {distinct.pk}; accepted: ids of kept near-duplicates" in answer
    assert left_out() == set()


def test_rating_before_adding_is_refused(as_user, project, manager, run) -> None:
    shown = as_user(manager).post(url("mining-run-rate", project.slug, run.pk), follow=True).content.decode()
    assert "add them first" in shown
    assert not Campaign.objects.exists()


def test_cancel_resume_and_delete(as_user, project: Project, manager: User, queued) -> None:
    run = asked_run(project, seeds_dataset(project), indexed_corpus(project))
    client, page = as_user(manager), url("mining-run-detail", project.slug, run.pk)
    client.post(url("mining-run-cancel", project.slug, run.pk))
    run.refresh_from_db()
    assert run.state == JobState.CANCELLED
    assert "Finished seeds are not mined again." in client.get(page).content.decode()
    client.post(url("mining-run-retry", project.slug, run.pk))
    assert queued == [run.pk]
    mining_run_execute(run_id=run.pk)
    mining_run_store(run=run)
    refused = client.post(url("mining-run-delete", project.slug, run.pk), follow=True).content.decode()
    assert "it stays as their record" in refused
    MiningRun.objects.filter(pk=run.pk).update(stored_at=None)
    client.post(url("mining-run-delete", project.slug, run.pk))
    assert not MiningRun.objects.exists()


def test_an_outsider_gets_404_and_a_viewer_changes_nothing(as_user, project, viewer, outsider, run) -> None:
    reads = [url(f"mining-run-{what}", project.slug, run.pk) for what in ("detail", "candidates")]
    reads.append(url("mining-run-download", project.slug, run.pk, "csv"))
    acts = [
        url(f"mining-run-{act}", project.slug, run.pk) for act in ("cancel", "retry", "delete", "store", "near", "rate")
    ]
    for address in [*reads, url("mining-run-create", project.slug)]:
        assert as_user(outsider).get(address).status_code == 404
    for address in acts:
        assert as_user(outsider).post(address).status_code == 404
        assert as_user(viewer).post(address).status_code == 403
        assert as_user(viewer).get(address).status_code == 405
    for address in reads:
        assert as_user(viewer).get(address).status_code == 200
    assert as_user(viewer).get(url("mining-run-create", project.slug)).status_code == 403
