"""Mining runs: what they find, that they are complete, and that their work can be shared and resumed."""

import pytest
from django.db.models.functions import Now

from annotation.core import jobs, progress, shards
from annotation.core.errors import AnnotationError
from annotation.mining.candidates import mine
from annotation.mining.selectors import (
    CandidateFilter,
    SeedChoice,
    candidate_page,
    candidate_rows,
    candidates_matching,
    corpus_folder,
    corpus_index,
    corpus_search,
    forget_indexes,
    seeds,
)
from annotation.mining.services import runs, storing
from annotation.mining.specification import MiningSpecification
from annotation.models import JobState, MinedCandidate, MiningRun, MiningShard, Project, User
from tests.annotation.worlds.mined import asked_run, indexed_corpus, seeds_dataset, uploaded_corpus


@pytest.fixture(autouse=True)
def data_folder(settings, tmp_path) -> None:
    settings.DATA_DIR = tmp_path


@pytest.fixture
def one_seed_a_shard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "SHARD_SEEDS", 1)


def finished(run: MiningRun) -> MiningRun:
    runs.mining_run_execute(run_id=run.pk)
    run.refresh_from_db()
    assert run.state == JobState.DONE, run.error
    return run


def stored_rows(run: MiningRun) -> list[tuple[object, ...]]:
    """Return everything that a run found, without ids."""
    return sorted(candidate_rows(run), key=repr)


def expected(run: MiningRun) -> list[tuple[object, ...]]:
    """Return what the pure package finds for the run's seeds."""
    index = corpus_index(run.corpus)
    choice = SeedChoice.of(run.specification["seeds"])
    specification = MiningSpecification.from_dict(run.specification["mining"])
    items = {item.pk: item for item in run.dataset.items.all()}
    rows = []
    for seed in seeds(run.dataset, choice, list(items)):
        item = items[seed.item_id]
        rows += [
            (
                item.external_id,
                item.split,
                item.context,
                item.message,
                candidate.kind,
                candidate.rank,
                candidate.score,
                candidate.message_score,
                candidate.response_score,
                candidate.text,
                candidate.raw_text,
                candidate.fate,
                list(candidate.reasons),
                candidate.near_duplicate,
                False,
                candidate.triple,
                list(candidate.source_context),
                candidate.source_message,
            )
            for candidate in mine(seed, index, specification)
        ]
    return sorted(rows, key=repr)


def test_a_run_stores_what_the_pure_package_finds_for_every_seed(project: Project, one_seed_a_shard: None) -> None:
    hygiene = [{"step": "mask_urls"}, {"step": "mask_handles"}, {"step": "length", "max_tokens": 7}]
    run = finished(asked_run(project, seeds_dataset(project), indexed_corpus(project), negatives=2, hygiene=hygiene))
    rows = stored_rows(run)
    assert rows == expected(run)
    assert {row[0] for row in rows} == {"tea", "game", "rain"}
    assert {row[4] for row in rows} == {"mined", "parrot", "random"}
    assert run.shards.count() == 3
    assert run.progress_done == run.progress_total == 3


def test_the_report_adds_up_to_the_candidates(project: Project) -> None:
    hygiene = [{"step": "mask_urls"}, {"step": "length", "max_tokens": 7}]
    run = finished(asked_run(project, seeds_dataset(project), indexed_corpus(project), negatives=1, hygiene=hygiene))
    candidates = list(MinedCandidate.objects.filter(run=run))
    report = run.report
    assert sum(n for fates in report["kinds"].values() for n in fates.values()) == len(candidates)
    for kind, fates in report["kinds"].items():
        for fate, n in fates.items():
            assert n == sum(candidate.kind == kind and candidate.fate == fate for candidate in candidates)
    assert report["seeds"]["all"] == 3
    kept = [
        sum(
            candidate.kind == "mined" and candidate.fate == "kept"
            for candidate in candidates
            if candidate.item_id == pk
        )
        for pk in run.shards.get().item_ids
    ]
    assert report["seeds"]["kept"] == {str(n): kept.count(n) for n in sorted(set(kept))}
    assert report["seeds"]["fewer"] == sum(n < 3 for n in kept)
    steps = {(row["step"], row["fate"]): row for row in report["reasons"]}
    assert ("same as seed", "duplicate") in steps or ("the seed's own triple", "duplicate") in steps
    for (step, fate), row in steps.items():
        matching = candidates_matching(run, CandidateFilter(step=step, fate=fate))
        assert row["n"] == matching.count() > 0
        assert {example["text"] for example in row["examples"]} <= {candidate.text for candidate in matching}
        assert len(row["examples"]) == min(row["n"], runs.EXAMPLES)


def test_a_split_and_another_kind_of_seed_can_be_chosen(project: Project) -> None:
    dataset, corpus = seeds_dataset(project), indexed_corpus(project)
    dev = finished(asked_run(project, dataset, corpus, splits=("dev",)))
    assert {row[0] for row in candidate_rows(dev)} == {"tea"}
    human = runs.mining_run_create(project=project, dataset=dataset, corpus=corpus, seed_choice={"kind": "human"})
    assert human.progress_total == 2
    assert human.specification["mining"]["n"] == 15


def test_the_signature_names_the_parameters_the_index_and_the_corpus(project: Project) -> None:
    corpus = indexed_corpus(project)
    run = asked_run(project, seeds_dataset(project), corpus)
    assert "n:3" in run.signature
    assert corpus.index_signature in run.signature
    assert corpus.content_hash[:16] in run.signature


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"specification": {"n": -1}}, "n"),
        ({"specification": {"many": 3}}, "many"),
        ({"specification": {"normalisation": "exact"}}, "normalisation"),
        ({"specification": {"hygiene": [{"step": "length", "min_tokens": "x"}]}}, "hygiene[0].min_tokens"),
        ({"seed_choice": {"kind": "system"}}, "seed_source"),
        ({"seed_choice": {"kind": "mined"}}, "seed_source"),
        ({"seed_choice": {"system": "Nobody"}}, "seed_source"),
        ({"seed_choice": {"kind": "seed", "system": "A"}}, "seed_source"),
        ({"seed_choice": {"splits": ["nowhere"]}}, "splits"),
    ],
)
def test_invalid_runs_are_refused_at_their_field(project: Project, arguments: dict, field: str) -> None:
    with pytest.raises(AnnotationError) as refusal:
        runs.mining_run_create(
            project=project, dataset=seeds_dataset(project), corpus=indexed_corpus(project), **arguments
        )
    assert list(refusal.value.fields) == [field]
    assert "accepted" in refusal.value.message
    assert not MiningRun.objects.exists()


def test_a_corpus_that_is_not_indexed_cannot_be_mined(project: Project) -> None:
    with pytest.raises(AnnotationError, match="queued; accepted: a corpus whose index is done"):
        asked_run(project, seeds_dataset(project), uploaded_corpus(project))


def test_finished_shards_are_not_repeated_when_the_worker_dies(project: Project, one_seed_a_shard: None) -> None:
    complete_run = finished(asked_run(project, seeds_dataset(project), indexed_corpus(project), negatives=1))

    class Died(BaseException):
        """Ends the run like a killed process: no handler catches it."""

    run = asked_run(project, complete_run.dataset, complete_run.corpus, negatives=1)

    def die_after_two(done: int, total: int, note: str) -> None:
        if MiningShard.objects.filter(run=run, state=JobState.DONE).count() == 2:
            raise Died

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(progress, "INTERVAL_SECONDS", -1)
        with pytest.raises(Died):
            runs.mining_run_execute(run_id=run.pk, progress=die_after_two)
    run.refresh_from_db()
    assert run.state == JobState.RUNNING
    times = dict(MiningShard.objects.filter(run=run, state=JobState.DONE).values_list("pk", "finished_at"))
    assert len(times) == 2
    for model in (MiningRun, MiningShard):
        model.objects.filter(state=JobState.RUNNING).update(lease_expires_at=jobs.Now() - jobs.timedelta(seconds=1))
    finished(run)
    assert run.attempt == 2
    assert dict(MiningShard.objects.filter(pk__in=times).values_list("pk", "finished_at")) == times
    assert stored_rows(run) == stored_rows(complete_run)


def test_helpers_take_waiting_shards_and_the_holder_finishes(project: Project, one_seed_a_shard: None) -> None:
    run = asked_run(project, seeds_dataset(project), indexed_corpus(project))
    helper_counts: list[int] = []

    def enqueue(helpers: int) -> None:
        helper_counts.append(helpers)
        assert runs.mining_run_help(run_id=run.pk) is False  # it took all of them

    runs.mining_run_execute(run_id=run.pk, enqueue=enqueue)
    run.refresh_from_db()
    assert helper_counts == [2]
    assert run.state == JobState.DONE
    assert list(run.shards.values_list("attempt", flat=True)) == [1, 1, 1]
    assert stored_rows(run) == expected(run)


def test_a_helper_is_queued_again_when_its_turn_is_over(project, one_seed_a_shard, monkeypatch) -> None:
    monkeypatch.setattr(shards, "TURN_SECONDS", -1)
    run = asked_run(project, seeds_dataset(project), indexed_corpus(project))
    turns: list[bool] = []
    runs.mining_run_execute(run_id=run.pk, enqueue=lambda helpers: turns.append(runs.mining_run_help(run_id=run.pk)))
    assert turns == [True]


def test_a_helper_has_nothing_to_do_unless_the_run_is_running(project: Project) -> None:
    run = asked_run(project, seeds_dataset(project), indexed_corpus(project))
    assert runs.mining_run_help(run_id=run.pk) is False
    assert runs.mining_run_help(run_id=run.pk + 1) is False
    finished(run)
    assert runs.mining_run_help(run_id=run.pk) is False


def test_a_cancelled_run_stops_and_is_resumed(project, one_seed_a_shard, monkeypatch) -> None:
    monkeypatch.setattr(progress, "INTERVAL_SECONDS", -1)
    run = asked_run(project, seeds_dataset(project), indexed_corpus(project))

    def cancel_after_one(done: int, total: int, note: str) -> None:
        if done == 1:
            jobs.job_request_cancel(run)

    runs.mining_run_execute(run_id=run.pk, progress=cancel_after_one)
    run.refresh_from_db()
    assert run.state == JobState.CANCELLED
    assert not run.shards.filter(state=JobState.RUNNING).exists()
    assert 0 < run.shards.filter(state=JobState.DONE).count() < 3
    assert jobs.job_requeue(run)
    finished(run)
    assert stored_rows(run) == expected(run)


def test_a_shard_that_used_up_its_attempts_fails_the_run(project: Project, one_seed_a_shard: None) -> None:
    run = asked_run(project, seeds_dataset(project), indexed_corpus(project))

    def use_up_attempts(helpers: int) -> None:
        MiningShard.objects.filter(run=run, number=1).update(
            state=JobState.RUNNING,
            attempt=jobs.MAX_ATTEMPTS,
            lease_token="0" * 32,
            lease_expires_at=jobs.Now() - jobs.timedelta(seconds=1),
        )

    runs.mining_run_execute(run_id=run.pk, enqueue=use_up_attempts)
    run.refresh_from_db()
    assert run.state == JobState.FAILED
    assert "Given up after" in run.error
    assert jobs.job_requeue(run)
    assert finished(run).report["seeds"]["all"] == 3


def test_a_host_without_the_index_fails_the_run(project, one_seed_a_shard, settings, tmp_path) -> None:
    run = asked_run(project, seeds_dataset(project), indexed_corpus(project))
    settings.DATA_DIR = tmp_path / "elsewhere"
    runs.mining_run_execute(run_id=run.pk)
    run.refresh_from_db()
    assert run.state == JobState.FAILED
    assert "is not on this host" in run.error


def test_pages_of_candidates_lead_through_all_seeds_and_back(project: Project) -> None:
    run = finished(asked_run(project, seeds_dataset(project), indexed_corpus(project)))
    first = candidate_page(run, size=2)
    assert [row.item.external_id for row in first.items] == ["tea", "game"]
    assert first.items[0].seed == "Yes please, tea would be lovely."
    second = candidate_page(run, after=first.after, size=2)
    assert [row.item.external_id for row in second.items] == ["rain"]
    assert second.after is None
    previous = candidate_page(run, before=second.before, size=2)
    assert [row.item.external_id for row in previous.items] == ["tea", "game"]
    assert previous.before is None
    fates = [candidate.fate for candidate in first.items[0].candidates]
    assert fates == sorted(fates, key=lambda fate: fate != "kept")


@pytest.mark.parametrize(
    "chosen",
    [
        CandidateFilter(fate="duplicate"),
        CandidateFilter(kind="parrot"),
        CandidateFilter(near=True),
        CandidateFilter(text="lovely"),
        CandidateFilter(fate="kept", kind="mined"),
    ],
)
def test_a_filter_shows_the_matching_candidates_and_their_items(project: Project, chosen: CandidateFilter) -> None:
    run = finished(asked_run(project, seeds_dataset(project), indexed_corpus(project), near_duplicate=0.3))
    shown = [candidate.pk for item in candidate_page(run, chosen).items for candidate in item.candidates]
    matching = set(candidates_matching(run, chosen).values_list("pk", flat=True))
    assert len(shown) == len(set(shown))
    assert set(shown) == matching
    assert matching
    assert len(matching) < MinedCandidate.objects.filter(run=run).count()


def test_seeds_with_too_few_candidates_are_listed_even_if_nothing_was_found(project: Project) -> None:
    items = [
        {"id": "odd", "message": "Zyxw?", "references": [{"text": "Qqq.", "kind": "seed"}]},
        {
            "id": "tea",
            "message": "Would you like tea?",
            "references": [{"text": "Tea would be lovely", "kind": "seed"}],
        },
    ]
    run = finished(asked_run(project, seeds_dataset(project, items=items), indexed_corpus(project), n=2, parrot=False))
    page = candidate_page(run, CandidateFilter(fewer=True))
    assert [row.item.external_id for row in page.items] == ["odd"]
    assert page.items[0].candidates == []
    assert run.report["seeds"] == {"all": 2, "fewer": 1, "kept": {"0": 1, "2": 1}}


def test_a_running_or_stored_run_cannot_be_deleted(project: Project, manager: User) -> None:
    run = asked_run(project, seeds_dataset(project), indexed_corpus(project))
    claim = jobs.job_claim(MiningRun, run.pk)
    assert claim
    with pytest.raises(AnnotationError, match="is running"):
        runs.mining_run_delete(run=run)
    claim.fail("over")
    jobs.job_requeue(run)
    storing.mining_run_store(run=finished(run), by=manager)
    with pytest.raises(AnnotationError, match="it stays as their record"):
        runs.mining_run_delete(run=run)


def test_a_shard_cancelled_after_a_restart_is_taken_up(project, monkeypatch, one_seed_a_shard) -> None:
    """A helper saw the run cancelled, but recorded it only after the run was restarted."""
    run = asked_run(project, seeds_dataset(project), indexed_corpus(project))
    next_shard, calls = shards._next_shard, []

    def counted_next_shard(waiting):
        calls.append(waiting)
        if len(calls) == 1:
            waiting.filter(number=1).update(state=JobState.CANCELLED, finished_at=Now())
        assert len(calls) < 30, "it waits for ever"
        return next_shard(waiting)

    monkeypatch.setattr(shards, "_next_shard", counted_next_shard)
    runs.mining_run_execute(run_id=run.pk)
    run.refresh_from_db()
    assert run.state == JobState.DONE, run.error


def test_damage_found_while_reading_is_reported_in_words(project) -> None:
    corpus = indexed_corpus(project)
    run = asked_run(project, seeds_dataset(project), corpus)
    part = corpus_folder(corpus) / "response" / "indices.csc.index.npy"
    content = part.read_bytes()
    part.write_bytes(content[: len(content) // 2] + b"\x7f" * (len(content) - len(content) // 2))
    forget_indexes()
    with pytest.raises(AnnotationError, match=r"The index of corpus “Pool” on .*indices.*damaged"):
        corpus_search(corpus, "Would you like some tea?", "tea would be lovely")
    runs.mining_run_execute(run_id=run.pk)
    run.refresh_from_db()
    assert run.state == JobState.FAILED
    assert "The index of corpus “Pool” on " in run.error
    assert "Unexpected" not in run.error


def test_a_changed_byte_is_found_before_anything_is_mined(project) -> None:
    corpus = indexed_corpus(project)
    run = asked_run(project, seeds_dataset(project), corpus)
    part = corpus_folder(corpus) / "triples.arrow"
    content = bytearray(part.read_bytes())
    offset = content.index(b"green tea")
    content[offset : offset + 5] = b"black"
    part.write_bytes(content)
    forget_indexes()
    runs.mining_run_execute(run_id=run.pk)
    run.refresh_from_db()
    assert run.state == JobState.FAILED
    assert "triples.arrow" in run.error
    assert not run.candidates.exists()
