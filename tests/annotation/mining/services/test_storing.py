"""Kept candidates become references: whole, once, and a text that is there already gets a further source."""

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


def kept(run: MiningRun) -> list[MinedCandidate]:
    return list(MinedCandidate.objects.filter(run=run, fate=CandidateFate.KEPT))


def test_each_kept_candidate_is_a_source_of_a_response_with_its_text(run: MiningRun, manager: User) -> None:
    before = set(Response.objects.values_list("pk", flat=True))
    promised = storing.store_preview(run)
    stored = storing.mining_run_store(run=run, by=manager)
    assert stored == promised
    sources = ResponseSource.objects.filter(mining_run=run).select_related("response")
    told = {
        (s.item_id, s.kind, s.rank, s.score, s.response.text_key, tuple(s.source_context), s.source_message)
        for s in sources
    }
    wanted = {
        (c.item_id, c.kind, c.rank, c.score, c.text_key, tuple(c.source_context), c.source_message) for c in kept(run)
    }
    assert told == wanted
    assert len(sources) == len(kept(run)) == stored.sources
    assert all(text_key(s.response.text) == s.response.text_key for s in sources)
    assert set(Response.objects.values_list("pk", flat=True)) >= before
    assert Response.objects.count() == len(before) + stored.new_responses


def test_a_text_that_the_item_has_gets_a_further_source(run: MiningRun) -> None:
    """“The game was great!” is a human reference of the item and mined for it."""
    storing.mining_run_store(run=run)
    response = Response.objects.get(item__external_id="game", text="The game was great!")
    assert sorted(response.sources.values_list("kind", flat=True)) == ["human", "mined"]


def test_another_spelling_of_a_known_text_is_kept_with_its_source(run: MiningRun) -> None:
    candidate = MinedCandidate.objects.get(run=run, item__external_id="game", text="The game was great!", kind="mined")
    MinedCandidate.objects.filter(pk=candidate.pk).update(text="The  game was great!")
    storing.mining_run_store(run=run)
    source = ResponseSource.objects.get(mining_run=run, response__text="The game was great!")
    assert source.raw_text == "The  game was great!"


def test_what_was_masked_stays_masked(run: MiningRun) -> None:
    masked = [one for one in kept(run) if one.raw_text]
    assert masked
    assert all("@sports" in one.raw_text for one in masked)
    storing.mining_run_store(run=run)
    told = [(source.response.text, source.raw_text) for source in ResponseSource.objects.filter(mining_run=run)]
    assert any("<user>" in text for text, _ in told)
    assert not any("@sports" in text or "@sports" in raw or "http" in text for text, raw in told)


def test_it_happens_once_and_is_written_down(run: MiningRun, manager: User) -> None:
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
    again = asked_run(project, run.dataset, run.corpus)
    runs.mining_run_execute(run_id=again.pk)
    again.refresh_from_db()
    preview = storing.store_preview(again)
    assert storing.mining_run_store(run=again) == preview
    assert Response.objects.count() == n_responses + preview.new_responses
    assert preview.known_responses > 0


def test_only_a_run_that_is_done_is_stored(project: Project, run: MiningRun) -> None:
    queued = asked_run(project, run.dataset, run.corpus)
    with pytest.raises(AnnotationError, match="queued; accepted: a run that is done"):
        storing.mining_run_store(run=queued)
    assert not ResponseSource.objects.filter(mining_run=queued).exists()


def test_a_run_that_kept_nothing_says_so(project: Project, run: MiningRun) -> None:
    MinedCandidate.objects.filter(run=run).update(fate=CandidateFate.DROPPED)
    with pytest.raises(AnnotationError, match="kept no candidate"):
        storing.mining_run_store(run=run)


def test_rating_them_begins_a_campaign_about_these_kinds(run: MiningRun, manager: User) -> None:
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
    """Texts that share three of ten triples are near-duplicates, so there are several."""
    settings.DATA_DIR = tmp_path
    run = asked_run(project, seeds_dataset(project), indexed_corpus(project), near_duplicate=0.3)
    runs.mining_run_execute(run_id=run.pk)
    run.refresh_from_db()
    return run


def test_near_duplicates_are_left_out_one_by_one(near_run: MiningRun, manager: User) -> None:
    first, second = [candidate for candidate in kept(near_run) if candidate.near_duplicate][:2]
    storing.near_duplicates_choose(run=near_run, leave_out=[first.pk, second.pk])
    storing.near_duplicates_choose(run=near_run, take=[second.pk])
    promised = storing.store_preview(near_run)
    assert promised.near_duplicates == 1
    assert storing.mining_run_store(run=near_run, by=manager) == promised
    told = set(ResponseSource.objects.filter(mining_run=near_run).values_list("item_id", "kind", "rank"))
    assert told == {(c.item_id, c.kind, c.rank) for c in kept(near_run) if c.pk != first.pk}
    assert AuditEntry.objects.get(verb="mining.store").data["near_duplicates_left_out"] == 1
    with pytest.raises(AnnotationError, match="accepted: once for each run"):
        storing.near_duplicates_choose(run=near_run, take=[first.pk])


@pytest.mark.parametrize(
    ("asked", "left_out"),
    [({}, {0}), ({"near_duplicates": True}, set()), ({"near_duplicates": False}, {0, 1}), ({"leave_out": [1]}, {1})],
    ids=["as chosen", "all", "none", "all but these"],
)
def test_what_is_asked_at_last_overrules_what_was_chosen(near_run: MiningRun, asked, left_out) -> None:
    near = [candidate.pk for candidate in kept(near_run) if candidate.near_duplicate][:2]
    others = MinedCandidate.objects.filter(run=near_run).exclude(pk__in=near)
    others.update(near_duplicate="")
    storing.near_duplicates_choose(run=near_run, leave_out=near[:1])
    if "leave_out" in asked:
        asked = {"leave_out": [near[number] for number in asked["leave_out"]]}
    stored = storing.mining_run_store(run=near_run, **asked)
    assert stored.near_duplicates == len(left_out)
    left = MinedCandidate.objects.filter(run=near_run, left_out=True).values_list("pk", flat=True)
    assert set(left) == {near[number] for number in left_out}


def test_only_kept_near_duplicates_of_the_run_can_be_chosen(near_run: MiningRun, project: Project) -> None:
    plain = next(candidate for candidate in kept(near_run) if not candidate.near_duplicate)
    near = next(candidate for candidate in kept(near_run) if candidate.near_duplicate)
    other = asked_run(project, near_run.dataset, near_run.corpus, near_duplicate=0.3)
    runs.mining_run_execute(run_id=other.pk)
    for run, asked in (
        (near_run, {"leave_out": [plain.pk]}),
        (other, {"leave_out": [near.pk]}),
        (near_run, {"take": [near.pk], "leave_out": [near.pk]}),
    ):
        with pytest.raises(AnnotationError, match="accepted: ids of kept near-duplicates"):
            storing.near_duplicates_choose(run=run, **asked)
    assert not MinedCandidate.objects.filter(left_out=True).exists()


def test_where_everything_is_left_out_nothing_can_be_added(near_run: MiningRun) -> None:
    MinedCandidate.objects.filter(run=near_run, near_duplicate="").update(fate=CandidateFate.DROPPED)
    with pytest.raises(AnnotationError, match="left out all it kept"):
        storing.mining_run_store(run=near_run, near_duplicates=False)


def test_near_duplicates_may_stay_behind(near_run: MiningRun, manager: User) -> None:
    run = near_run
    near = [candidate for candidate in kept(run) if candidate.near_duplicate]
    assert near
    assert len(near) < len(kept(run))
    before = set(Response.objects.values_list("item_id", "text_key"))
    storing.near_duplicates_choose_all(run=run, left_out=True)
    promised = storing.store_preview(run)
    stored = storing.mining_run_store(run=run, near_duplicates=False, by=manager)
    assert stored == promised
    assert stored.near_duplicates == len(near)
    sources = ResponseSource.objects.filter(mining_run=run)
    told = set(sources.values_list("item_id", "kind", "rank"))
    assert told == {(c.item_id, c.kind, c.rank) for c in kept(run) if not c.near_duplicate}
    added = set(Response.objects.values_list("item_id", "text_key")) - before
    assert added == {(c.item_id, c.text_key) for c in kept(run) if not c.near_duplicate} - before
    run.refresh_from_db()
    assert run.report["stored"]["near_duplicates_left_out"] == len(near)
