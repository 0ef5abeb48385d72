"""Kept candidates become references: all of them, once; an existing text gets another source."""

import pytest

from annotation.core.errors import AnnotationError
from annotation.core.normalisation import text_key
from annotation.mining.services import runs, storing
from annotation.models import (
    AuditEntry,
    Campaign,
    CandidateFate,
    MinedCandidate,
    MiningRun,
    Project,
    Response,
    ResponseSource,
    User,
)
from tests.annotation.worlds.mined import asked_run, indexed_corpus, seeds_dataset


@pytest.fixture
def run(project: Project, settings, tmp_path) -> MiningRun:
    settings.DATA_DIR = tmp_path
    hygiene = [{"step": "mask_urls"}, {"step": "mask_handles"}]
    run = asked_run(project, seeds_dataset(project), indexed_corpus(project), negatives=1, hygiene=hygiene)
    runs.mining_run_execute(run_id=run.pk)
    run.refresh_from_db()
    return run


def kept_candidates(run: MiningRun) -> list[MinedCandidate]:
    return list(MinedCandidate.objects.filter(run=run, fate=CandidateFate.KEPT))


def test_each_kept_candidate_is_a_source_of_a_response_with_its_text(run: MiningRun, manager: User) -> None:
    before = set(Response.objects.values_list("pk", flat=True))
    preview = storing.store_preview(run)
    stored = storing.mining_run_store(run=run, by=manager)
    assert stored == preview
    sources = ResponseSource.objects.filter(mining_run=run).select_related("response")
    stored_sources = {
        (s.item_id, s.kind, s.rank, s.score, s.response.text_key, tuple(s.source_context), s.source_message)
        for s in sources
    }
    expected = {
        (c.item_id, c.kind, c.rank, c.score, c.text_key, tuple(c.source_context), c.source_message)
        for c in kept_candidates(run)
    }
    assert stored_sources == expected
    assert len(sources) == len(kept_candidates(run)) == stored.sources
    assert all(text_key(s.response.text) == s.response.text_key for s in sources)
    assert set(Response.objects.values_list("pk", flat=True)) >= before
    assert Response.objects.count() == len(before) + stored.new_responses


def test_a_text_that_the_item_already_has_gets_another_source(run: MiningRun) -> None:
    """“The game was great!” is a human reference of the item and mined for it."""
    storing.mining_run_store(run=run)
    response = Response.objects.get(item__external_id="game", text="The game was great!")
    assert sorted(response.sources.values_list("kind", flat=True)) == ["human", "mined"]


def test_another_spelling_of_a_known_text_is_stored_with_its_source(run: MiningRun) -> None:
    candidate = MinedCandidate.objects.get(run=run, item__external_id="game", text="The game was great!", kind="mined")
    MinedCandidate.objects.filter(pk=candidate.pk).update(text="The  game was great!")
    storing.mining_run_store(run=run)
    source = ResponseSource.objects.get(mining_run=run, response__text="The game was great!")
    assert source.raw_text == "The  game was great!"


def test_masked_texts_stay_masked(run: MiningRun) -> None:
    masked = [candidate for candidate in kept_candidates(run) if candidate.raw_text]
    assert masked
    assert all("@sports" in candidate.raw_text for candidate in masked)
    storing.mining_run_store(run=run)
    stored_sources = [
        (source.response.text, source.raw_text) for source in ResponseSource.objects.filter(mining_run=run)
    ]
    assert any("<user>" in text for text, _ in stored_sources)
    assert not any("@sports" in text or "@sports" in raw or "http" in text for text, raw in stored_sources)


def test_storing_happens_once_and_is_in_the_audit_log(run: MiningRun, manager: User) -> None:
    stored = storing.mining_run_store(run=run, by=manager)
    entry = AuditEntry.objects.get(verb="mining.store")
    assert entry.actor == manager
    assert entry.data["new_responses"] == stored.new_responses
    n_sources = ResponseSource.objects.count()
    with pytest.raises(AnnotationError, match="accepted: once for each run"):
        storing.mining_run_store(run=run, by=manager)
    assert ResponseSource.objects.count() == n_sources
    run.refresh_from_db()
    assert run.stored_at is not None
    assert run.report["stored"]["kinds"] == stored.kinds


def test_two_runs_credit_the_same_responses_twice(run: MiningRun, project: Project) -> None:
    storing.mining_run_store(run=run)
    n_responses = Response.objects.count()
    second_run = asked_run(project, run.dataset, run.corpus)
    runs.mining_run_execute(run_id=second_run.pk)
    second_run.refresh_from_db()
    preview = storing.store_preview(second_run)
    assert storing.mining_run_store(run=second_run) == preview
    assert Response.objects.count() == n_responses + preview.new_responses
    assert preview.known_responses > 0


def test_only_a_finished_run_can_be_stored(project: Project, run: MiningRun) -> None:
    queued = asked_run(project, run.dataset, run.corpus)
    with pytest.raises(AnnotationError, match="queued; accepted: a run that is done"):
        storing.mining_run_store(run=queued)
    assert not ResponseSource.objects.filter(mining_run=queued).exists()


def test_a_run_that_kept_nothing_cannot_be_stored(project: Project, run: MiningRun) -> None:
    MinedCandidate.objects.filter(run=run).update(fate=CandidateFate.DROPPED)
    with pytest.raises(AnnotationError, match="kept no candidate"):
        storing.mining_run_store(run=run)


def test_rating_the_candidates_creates_a_campaign_for_their_kinds(run: MiningRun, manager: User) -> None:
    with pytest.raises(AnnotationError, match="add them first"):
        storing.mining_run_rate(run=run, by=manager)
    storing.mining_run_store(run=run, by=manager)
    run.refresh_from_db()
    campaign = storing.mining_run_rate(run=run, by=manager)
    assert Campaign.objects.get() == campaign
    assert campaign.target == "references"
    assert campaign.name == "Rating replies"
    assert set(campaign.reference_kinds) == {"mined", "parrot", "random"}


@pytest.fixture
def near_run(project: Project, settings, tmp_path) -> MiningRun:
    """A run with several near-duplicates: sharing three of ten shingles is enough."""
    settings.DATA_DIR = tmp_path
    run = asked_run(project, seeds_dataset(project), indexed_corpus(project), near_duplicate=0.3)
    runs.mining_run_execute(run_id=run.pk)
    run.refresh_from_db()
    return run


def test_near_duplicates_are_left_out_one_by_one(near_run: MiningRun, manager: User) -> None:
    first, second = [candidate for candidate in kept_candidates(near_run) if candidate.near_duplicate][:2]
    storing.near_duplicates_choose(run=near_run, leave_out=[first.pk, second.pk])
    storing.near_duplicates_choose(run=near_run, take=[second.pk])
    preview = storing.store_preview(near_run)
    assert preview.near_duplicates == 1
    assert storing.mining_run_store(run=near_run, by=manager) == preview
    stored_sources = set(ResponseSource.objects.filter(mining_run=near_run).values_list("item_id", "kind", "rank"))
    assert stored_sources == {(c.item_id, c.kind, c.rank) for c in kept_candidates(near_run) if c.pk != first.pk}
    assert AuditEntry.objects.get(verb="mining.store").data["near_duplicates_left_out"] == 1
    with pytest.raises(AnnotationError, match="accepted: once for each run"):
        storing.near_duplicates_choose(run=near_run, take=[first.pk])


@pytest.mark.parametrize(
    ("options", "left_out"),
    [({}, {0}), ({"near_duplicates": True}, set()), ({"near_duplicates": False}, {0, 1}), ({"leave_out": [1]}, {1})],
    ids=["as chosen", "all", "none", "all but these"],
)
def test_options_of_storing_override_the_earlier_choice(near_run: MiningRun, options, left_out) -> None:
    near = [candidate.pk for candidate in kept_candidates(near_run) if candidate.near_duplicate][:2]
    others = MinedCandidate.objects.filter(run=near_run).exclude(pk__in=near)
    others.update(near_duplicate="")
    storing.near_duplicates_choose(run=near_run, leave_out=near[:1])
    if "leave_out" in options:
        options = {"leave_out": [near[number] for number in options["leave_out"]]}
    stored = storing.mining_run_store(run=near_run, **options)
    assert stored.near_duplicates == len(left_out)
    left_out_ids = MinedCandidate.objects.filter(run=near_run, left_out=True).values_list("pk", flat=True)
    assert set(left_out_ids) == {near[number] for number in left_out}


def test_only_kept_near_duplicates_of_the_run_can_be_chosen(near_run: MiningRun, project: Project) -> None:
    plain = next(candidate for candidate in kept_candidates(near_run) if not candidate.near_duplicate)
    near = next(candidate for candidate in kept_candidates(near_run) if candidate.near_duplicate)
    other_run = asked_run(project, near_run.dataset, near_run.corpus, near_duplicate=0.3)
    runs.mining_run_execute(run_id=other_run.pk)
    for run, choice in (
        (near_run, {"leave_out": [plain.pk]}),
        (other_run, {"leave_out": [near.pk]}),
        (near_run, {"take": [near.pk], "leave_out": [near.pk]}),
    ):
        with pytest.raises(AnnotationError, match="accepted: ids of kept near-duplicates"):
            storing.near_duplicates_choose(run=run, **choice)
    assert not MinedCandidate.objects.filter(left_out=True).exists()


def test_a_run_with_everything_left_out_cannot_be_stored(near_run: MiningRun) -> None:
    MinedCandidate.objects.filter(run=near_run, near_duplicate="").update(fate=CandidateFate.DROPPED)
    with pytest.raises(AnnotationError, match="left out all it kept"):
        storing.mining_run_store(run=near_run, near_duplicates=False)


def test_all_near_duplicates_can_be_left_out(near_run: MiningRun, manager: User) -> None:
    run = near_run
    near = [candidate for candidate in kept_candidates(run) if candidate.near_duplicate]
    assert near
    assert len(near) < len(kept_candidates(run))
    before = set(Response.objects.values_list("item_id", "text_key"))
    storing.near_duplicates_choose_all(run=run, left_out=True)
    preview = storing.store_preview(run)
    stored = storing.mining_run_store(run=run, near_duplicates=False, by=manager)
    assert stored == preview
    assert stored.near_duplicates == len(near)
    sources = ResponseSource.objects.filter(mining_run=run)
    stored_sources = set(sources.values_list("item_id", "kind", "rank"))
    assert stored_sources == {(c.item_id, c.kind, c.rank) for c in kept_candidates(run) if not c.near_duplicate}
    added = set(Response.objects.values_list("item_id", "text_key")) - before
    assert added == {(c.item_id, c.text_key) for c in kept_candidates(run) if not c.near_duplicate} - before
    run.refresh_from_db()
    assert run.report["stored"]["near_duplicates_left_out"] == len(near)
