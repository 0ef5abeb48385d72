import threading
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
import sacrebleu
from django.db import connection
from django.db.models import Count, Max
from django.test.utils import CaptureQueriesContext

from annotation.core.jobs import job_claim, job_request_cancel, job_requeue
from annotation.models import Item, JobState, Project
from metrics.errors import ScoreRunRefused
from metrics.models import ScoreRun, SystemScore
from metrics.scoring.delta_bleu import corpus_delta_bleu
from metrics.scoring.metric import Metric, MetricStatistics, Preparation, mean_statistics
from metrics.scoring.models.store import ModelStore
from metrics.scoring.registry import get_metric
from metrics.scoring.segments import Segments
from metrics.selectors.arrays import run_arrays
from metrics.selectors.corpus import load_corpus, texts_digests
from metrics.services.runs import (
    ALL,
    RunTexts,
    metric_from,
    run_signature,
    score_run_create,
    score_run_execute,
    score_run_statistics,
)
from metrics.services.scoring import Scorer
from metrics.subsets import Subset
from tests.metrics.conversations import make_conversations
from tests.metrics.runs import finished_run
from tests.metrics.world import HYPOTHESES, REFERENCES, World, make_world

pytestmark = pytest.mark.django_db

PARAMETERS = {"tokenize": "whitespace", "lowercase": True}


def create(
    world: World, metric: str = "bleu", subset: str | Subset = "all", **changes: object
) -> tuple[ScoreRun, bool]:
    fields: dict = {
        "project": world.project,
        "release": world.release,
        "systems": world.hypotheses,
        "metric": metric,
        "parameters": PARAMETERS,
        "subset": Subset.parse(subset) if isinstance(subset, str) else subset,
        "by": None,
    }
    return score_run_create(**(fields | changes))


def executed(world: World, *args: str, **changes: object) -> ScoreRun:
    run, _ = create(world, *args, **changes)
    score_run_execute(run_id=run.pk)
    run.refresh_from_db()
    assert run.state == JobState.DONE, run.error
    return run


def test_bleu_over_all_references_is_sacrebleus(world: World) -> None:
    bleu = sacrebleu.BLEU(max_ngram_order=2, tokenize="none", smooth_method="none", lowercase=True)
    indices = range(len(world.items))
    references = [[world.responses[name, index].text for index in indices] for name in REFERENCES]

    run = executed(world)

    for name in HYPOTHESES:
        hypotheses = [world.responses[name, index].text for index in indices]
        expected = bleu.corpus_score(hypotheses, references).score / 100
        assert run.scores.get(system__name=name).score == pytest.approx(expected, abs=1e-9)


def test_delta_bleu_over_a_threshold_uses_only_weights_that_reach_it(world: World) -> None:
    scored = [
        (index, [name for name in REFERENCES if world.weights[name, index] >= 0.25])
        for index in range(len(world.items))
    ]
    scored = [(index, names) for index, names in scored if names]

    run = executed(world, "delta_bleu", "w>=0.25")

    for system in HYPOTHESES:
        expected = corpus_delta_bleu(
            [world.responses[system, index].text for index, _ in scored],
            [[world.responses[name, index].text for name in names] for index, names in scored],
            [[world.weights[name, index] for name in names] for index, names in scored],
            **PARAMETERS,
        )
        score = run.scores.get(system__name=system)
        assert score.score == pytest.approx(expected.score, abs=1e-12)
        assert score.details["precisions"] == pytest.approx(expected.precisions)
        assert score.details["brevity_penalty"] == pytest.approx(expected.brevity_penalty)
    assert run.report["items_scored"] == len(scored)
    assert run.report["dropped"][-1]["count"] == len(world.items) - len(scored)


def test_stored_statistics_give_the_score_again(world: World) -> None:
    run = executed(world, "delta_bleu", "all")
    arrays = run_arrays(run)

    assert [system.name for system in arrays.systems] == sorted(HYPOTHESES)
    assert arrays.item_ids.tolist() == [item.pk for item in world.items]
    assert arrays.scores.shape == arrays.valid.shape == arrays.packed.shape[:2] == (3, len(world.items))
    stored = [run.scores.get(system=system) for system in arrays.systems]
    assert arrays.statistics().system_scores().tolist() == [score.score for score in stored]
    assert [score.position for score in stored] == [0, 1, 2]
    assert [score.n_segments for score in stored] == arrays.valid.sum(axis=1).tolist()


def test_a_finished_run_is_looked_up_for_the_items_it_scored(world: World) -> None:
    run = executed(world, "delta_bleu", "all")
    items = np.array([item.pk for item in world.items])

    stored = score_run_statistics(run, items)

    scorer = Scorer(load_corpus(world.release, world.hypotheses), [])
    computed = scorer.statistics(metric_from(run.metric, run.parameters), Subset())
    assert stored is not None
    np.testing.assert_array_equal(stored.packed, computed.packed)
    np.testing.assert_array_equal(stored.valid, computed.valid)
    np.testing.assert_array_equal(stored.sentence_scores, computed.sentence_scores)
    assert stored.aggregate == computed.aggregate
    assert score_run_statistics(run, items[1:]) is None
    assert score_run_statistics(create(world, "bleu")[0], items) is None


def test_a_system_that_matches_nothing_is_clamped_and_says_at_which_order(world: World) -> None:
    for index in range(len(world.items)):
        response = world.responses["Quill", index]
        response.text = f"zzz {index} yyy"
        response.save()

    run = executed(world)

    score = run.scores.get(system__name="Quill")
    assert (score.score, score.clamped_orders) == (0.0, [1, 2])


def test_the_signature_names_all_that_the_score_depends_on(world: World) -> None:
    run, _ = create(world, "delta_bleu", "w>0")

    digest = run.signature.split("outputs:3-")[1].split("|")[0]
    assert run.signature == (
        "delta_bleu|order:2|sem:galley2015|tok:whitespace|lc:yes|smooth:none|weights:release|refs:w>0"
        f"|release:cat-references/v1-c0ffeec0|data:cats|items:referenced|outputs:3-{digest}|version:0.1.0"
    )


def test_a_changed_text_makes_another_run_whatever_else_is_the_same(world: World) -> None:
    """Also where the data set's normalisation takes both for one response, so that its key stays."""
    first, _ = create(world)
    response = world.responses["Quill", 0]
    response.text = response.text.upper()
    response.save()

    second, created = create(world)

    assert created
    assert second.signature != first.signature


def test_sources_matter_only_to_metrics_that_read_them(world: World) -> None:
    for metric, reads in (("ibleu", True), ("bleu", False)):
        first, _ = create(world, metric)
        message = world.items[0].message
        Item.objects.filter(pk=world.items[0].pk).update(message=f"{message} {metric}")

        second, created = create(world, metric)

        assert created is reads
        assert ("|sources:" in second.signature) is reads
        assert (second.signature != first.signature) is reads


def test_runs_whose_signature_lines_agree_by_chance_are_kept_apart(world: World) -> None:
    """The line shows the first twelve digits of each hash; a run is looked up by all of them."""
    beginning = "0123456789ab"
    metric = get_metric("ibleu")
    digests = [
        {"outputs": f"{beginning}{outputs}", "sources": f"{beginning}{sources}"}
        for outputs, sources in (("0", "0"), ("1", "0"), ("0", "1"))
    ]

    texts = RunTexts(world.dataset, world.release, world.hypotheses)
    signatures = [run_signature(texts, metric, ALL, digest) for digest in digests]

    assert len({line for line, _ in signatures}) == 1
    assert len({key for _, key in signatures}) == 3


def test_models_whose_hashes_begin_alike_are_told_apart(world: World) -> None:
    digests = texts_digests(world.hypotheses, sources=False)
    models = [get_metric("am", model=f"sha256:{'a' * 12}{rest * 52}") for rest in "bc"]

    texts = RunTexts(world.dataset, world.release, world.hypotheses)
    first, second = (run_signature(texts, metric, ALL, digests) for metric in models)

    assert first[0] == second[0]
    assert first[1] != second[1]


def test_sources_that_change_while_they_are_read_are_noticed(world: World) -> None:
    run, _ = create(world, "ibleu")
    Item.objects.filter(pk=world.items[0].pk).update(message="something else")

    score_run_execute(run_id=run.pk)

    run.refresh_from_db()
    assert run.error == "The sources were changed while they were scored. Start the run again."


def test_the_same_run_is_made_once_whatever_the_order_of_its_systems(world: World) -> None:
    first, created = create(world)
    second, second_created = create(world, systems=list(reversed(world.hypotheses)))

    assert (created, second_created) == (True, False)
    assert first.pk == second.pk


@pytest.mark.parametrize(
    "change",
    [
        {"metric": "sbleu"},
        {"subset": Subset.parse("w>0")},
        {"parameters": {**PARAMETERS, "max_order": 3}},
        {"subset": Subset("all", items="positive")},
    ],
)
def test_another_parameter_is_another_run(world: World, change: dict[str, object]) -> None:
    first, _ = create(world)

    assert create(world, **change)[0].pk != first.pk


def test_a_changed_output_is_another_run(world: World) -> None:
    first, _ = create(world)
    world.systems["Echo"].outputs.filter(item=world.items[1]).update(response=world.responses["Quill", 1])

    assert create(world)[0].signature != first.signature


@pytest.mark.django_db(transaction=True)
def test_concurrent_requests_make_one_run_and_compute_it_once(project: Project) -> None:
    world = make_world(project, n_items=8)
    barrier = threading.Barrier(8)
    results: list[tuple[int, bool]] = []

    def ask() -> None:
        try:
            barrier.wait(10)
            run, created = create(world)
            score_run_execute(run_id=run.pk)
            results.append((run.pk, created))
        finally:
            connection.close()

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert len(results) == 8
    assert [created for _, created in results].count(True) == 1
    run = ScoreRun.objects.get()
    assert (run.state, run.attempt) == (JobState.DONE, 1)
    assert SystemScore.objects.count() == 3


def test_a_worker_that_lost_its_lease_cannot_write(world: World) -> None:
    run, _ = create(world)
    assert job_claim(ScoreRun, run.pk) is not None  # another worker holds the run

    score_run_execute(run_id=run.pk)

    run.refresh_from_db()
    assert run.state == JobState.RUNNING
    assert not run.scores.exists()


def test_a_cancelled_run_can_be_repeated(world: World) -> None:
    run, _ = create(world)
    job_request_cancel(run)
    score_run_execute(run_id=run.pk)
    run.refresh_from_db()
    assert run.state == JobState.CANCELLED

    assert job_requeue(run)
    score_run_execute(run_id=run.pk)
    run.refresh_from_db()
    assert run.state == JobState.DONE


def test_a_run_without_any_item_fails_and_counts_why(world: World) -> None:
    empty = world.dataset.systems.create(name="Silent")
    run, _ = create(world, systems=[empty])

    score_run_execute(run_id=run.pk)

    run.refresh_from_db()
    assert run.state == JobState.FAILED
    assert run.error == f"No item can be scored. Left out: not every system has an output: {len(world.items)}."


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"metric": "rouge"}, "metric", "found 'rouge'; accepted: 'bleu', 'sbleu', 'delta_bleu'"),
        ({"parameters": {"max_order": 9}}, "max_order", "found 9; accepted: an integer from 1 to 4"),
        ({"systems": []}, "systems", "at least one system"),
    ],
)
def test_a_wrong_field_is_named(world: World, change: dict[str, object], field: str, message: str) -> None:
    with pytest.raises(ScoreRunRefused) as refusal:
        create(world, **change)

    assert message in refusal.value.fields[field][0]


@dataclass(frozen=True)
class Characters(Metric):
    """How long an output is: no reference is read."""

    name: ClassVar[str] = "characters"
    label: ClassVar[str] = "Characters"
    summary: ClassVar[str] = "Characters of an output."
    group: ClassVar[str] = "text"
    needs_references: ClassVar[bool] = False

    def preparation(self) -> "CharacterCounts":
        return CharacterCounts()

    def statistics(self, prepared: Any, **_: Any) -> MetricStatistics:
        return mean_statistics(prepared)


@dataclass(frozen=True)
class CharacterCounts(Preparation):
    def __call__(self, segments: Segments, models: object) -> np.ndarray:
        return np.array([len(str(text)) for text in segments.row_texts], dtype=np.float64)[segments.rows]


class _Given(Preparation):
    """What a metric that reads prompts was given."""

    def __call__(self, segments: Segments, models: ModelStore) -> Any:
        return segments.prompts


@dataclass(frozen=True)
class _ReadsPrompts(Characters):
    name: ClassVar[str] = "reads_prompts"
    needs_prompts: ClassVar[bool] = True

    def preparation(self) -> _Given:
        return _Given()


def test_a_metric_that_reads_prompts_gets_all_that_systems_were_given_and_no_other_does(world: World) -> None:
    first, second = world.items[:2]
    Item.objects.filter(pk=first.pk).update(context=["Hi!", "Hello."], message="And you?")
    Item.objects.filter(pk=second.pk).update(context=["Hi!"], meaning_representation="inform(name=Aromi)")
    corpus = load_corpus(world.release, world.hypotheses)

    prompts = Scorer(corpus, [_ReadsPrompts()]).workspace.prepared(_ReadsPrompts())

    assert prompts[:2] == ["Hi!\nHello.\nAnd you?", "inform(name=Aromi)"]
    with CaptureQueriesContext(connection) as queries:
        assert Scorer(corpus, [get_metric("ibleu")]).workspace.segments.prompts is None
    assert not queries.captured_queries


def test_a_signature_names_the_prompts_of_a_metric_that_reads_them(world: World) -> None:
    texts = RunTexts(world.dataset, None, world.hypotheses)
    signatures = []
    for context in (["Hi!"], ["Hello."]):
        Item.objects.filter(pk=world.items[0].pk).update(context=context)
        digests = texts_digests(world.hypotheses, sources=False, prompts=True)
        signatures.append(run_signature(texts, _ReadsPrompts(), ALL, digests))
    (line, key), (other_line, other_key) = signatures
    assert "|prompts:" in line
    assert line != other_line
    assert key != other_key


@pytest.fixture
def characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "metrics.services.runs.get_metric",
        lambda name, **parameters: (
            Characters(**parameters) if name == Characters.name else get_metric(name, **parameters)
        ),
    )


def test_a_metric_without_references_needs_no_release(world: World, characters: None) -> None:
    """Its items are all with an output of every system."""
    world.systems["Echo"].outputs.filter(item=world.items[0]).delete()

    run = executed(world, "characters", release=None, dataset=world.dataset, parameters={})

    assert run_arrays(run).item_ids.tolist() == [item.pk for item in world.items[1:]]
    lengths = [len(world.responses["Quill", index].text) for index in range(1, len(world.items))]
    assert run.scores.get(system__name="Quill").score == pytest.approx(sum(lengths) / len(lengths))
    digest = run.signature.split("outputs:3-")[1].split("|")[0]
    assert run.signature == f"characters|data:cats|outputs:3-{digest}|version:0.1.0"


def test_a_metric_without_references_makes_one_run_for_all_subsets(world: World, characters: None) -> None:
    runs = {create(world, "characters", subset, parameters={})[0].pk for subset in ("all", "w>0", "original")}

    assert len(runs) == 1


def test_a_metric_that_reads_references_is_refused_without_them(world: World) -> None:
    with pytest.raises(ScoreRunRefused, match=r"BLEU reads references\. Data set Cats has of its own: none"):
        create(world, release=None, dataset=world.dataset)


def test_references_of_items_that_cannot_be_scored_are_not_used(project: Project) -> None:
    conversations = make_conversations(project)
    run = finished_run(conversations, "delta_bleu", systems=list(conversations.dataset.systems.all()))
    weights = conversations.release.weights.values("item").annotate(top=Max("weight"), n=Count("pk"))
    scored = weights.filter(top__gt=0)
    assert 0 < len(scored) < len(weights)
    assert run.report["items_scored"] == len(scored)
    assert run.report["references"] == sum(row["n"] for row in scored)
