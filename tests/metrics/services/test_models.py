"""Names of trained models become content hashes before a run is signed."""

import re

import pytest

from annotation.models import Project
from metrics.errors import ScoreRunRefused
from metrics.models import ScoreRun, TrainedModel
from metrics.selectors.models import models_of_run, runs_using, uses_by_reference
from metrics.services.models import parameters_with_models
from metrics.services.runs import score_run_create, score_run_execute
from metrics.services.training import model_delete
from metrics.subsets import Subset
from tests.metrics.trained import models_dir, queued_model, trained_model  # noqa: F401
from tests.metrics.world import World, make_world
from tests.races import race

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_dir")]


def meant(world: World, written: str) -> str:
    reference: str = parameters_with_models(world.project, "am", {"model": written, "k": 2})["model"]
    return reference


def test_a_model_is_meant_by_name_version_or_hash_and_the_newest_where_none_is_named(world: World) -> None:
    first = trained_model(world)
    second = trained_model(world, options={"components": 3})
    other_model = trained_model(world, name="Other", options={"components": 2})
    queued_model(world, name="Waits")

    assert meant(world, "cat-space") == meant(world, "Cat space") == second.reference
    assert meant(world, "cat-space/v1") == first.reference
    assert meant(world, first.reference) == meant(world, first.reference[:19]) == first.reference
    assert meant(world, "") == other_model.reference
    assert parameters_with_models(world.project, "am", {"k": 2})["model"] == other_model.reference


def test_parameters_that_name_no_model_stay(world: World) -> None:
    assert parameters_with_models(world.project, "bleu", {"max_order": 2}) == {"max_order": 2}
    assert parameters_with_models(world.project, "no-such-metric", {"a": 1}) == {"a": 1}


@pytest.mark.parametrize(
    "written",
    ["nobody", "cat-space/v9", "sha256:123", "sha256:" + "0" * 64, "/etc/passwd", "cat\0space", "sha256:" + "\0" * 64],
)
def test_a_model_that_is_not_there_is_refused_with_those_that_are(world: World, written: str) -> None:
    trained_model(world)

    expected = re.escape(f"model: found {written!r}; accepted: cat-space/v1")
    with pytest.raises(ScoreRunRefused, match=expected) as refused:
        meant(world, written)

    assert list(refused.value.fields) == ["model"]


def test_without_a_model_the_error_says_how_to_make_one(world: World) -> None:
    trained_model(world)

    with pytest.raises(ScoreRunRefused, match=r"no word vectors yet\. Train one under Models"):
        parameters_with_models(world.project, "embedding_average", {})
    with pytest.raises(ScoreRunRefused, match=r"no sentence encoder yet\. Register one with"):
        parameters_with_models(world.project, "sentence_cosine", {})


def test_a_model_of_another_project_is_not_found(world: World, outsider) -> None:
    model = trained_model(world)
    TrainedModel.objects.filter(pk=model.pk).update(project=outsider.memberships.get().project)

    with pytest.raises(ScoreRunRefused, match="no LSA space yet"):
        meant(world, model.reference)


@pytest.fixture
def run(world: World) -> ScoreRun:
    trained_model(world)
    trained_model(world, kind="language_model", name="Bigrams")
    score_run, _ = score_run_create(
        project=world.project,
        release=world.release,
        systems=world.hypotheses,
        metric="am_fm",
        parameters={"k": 2},
        subset=Subset.parse("all"),
        by=None,
    )
    return score_run


def test_a_run_names_its_models_by_their_hashes_and_computes_with_them(world: World, run: ScoreRun) -> None:
    space, bigrams = (TrainedModel.objects.get(kind=kind) for kind in ("lsa", "language_model"))

    score_run_execute(run_id=run.pk)

    run.refresh_from_db()
    assert run.state == "done", run.error
    assert run.parameters["am_model"] == space.reference
    assert run.parameters["fm_model"] == bigrams.reference
    assert space.digest[:12] in run.signature
    assert bigrams.digest[:12] in run.signature
    assert [model for _, model in models_of_run(run)] == [space, bigrams]
    assert all(0 < score.score <= 1 for score in run.scores.all())


@pytest.mark.parametrize(("metric", "parameters", "field"), [("am", {"k": 9}, "k"), ("fm", {"order": 4}, "order")])
def test_a_run_that_asks_a_model_for_more_than_it_has_is_refused_at_once(
    world: World, run: ScoreRun, metric: str, parameters: dict[str, int], field: str
) -> None:
    with pytest.raises(ScoreRunRefused, match=rf"{field}: found \d; accepted: up to \d, which is what") as raised:
        score_run_create(
            project=world.project,
            release=world.release,
            systems=world.hypotheses,
            metric=metric,
            parameters=parameters,
            by=None,
        )
    assert list(raised.value.fields) == [field]


@pytest.mark.django_db(transaction=True)
def test_a_model_is_not_deleted_while_a_run_that_reads_it_is_created(project: Project) -> None:
    world = make_world(project, n_items=8)

    def create() -> ScoreRun:
        systems, parameters = world.hypotheses, {"k": 2}
        options = {"project": project, "release": world.release, "systems": systems, "metric": "am", "by": None}
        return score_run_create(**options, parameters=parameters)[0]

    model = trained_model(world)
    _, refusal = race(lambda: model_delete(model=model, by=None), create)
    assert isinstance(refusal, ScoreRunRefused)
    assert "the model was deleted just now" in refusal.message
    assert list(refusal.fields) == ["model"]

    model = trained_model(world)
    run, refusal = race(create, lambda: model_delete(model=model, by=None))
    assert f"is read by score run {run.number}; accepted: a model that no run reads" in str(refusal)


def test_a_model_that_runs_read_is_not_deleted_unless_there_is_another_like_it(world: World, run: ScoreRun) -> None:
    space = TrainedModel.objects.get(kind="lsa")
    assert list(runs_using(space)) == [run]
    assert uses_by_reference(world.project)[space.reference] == 1

    with pytest.raises(Exception, match=f"is read by score run {run.number}; accepted: a model that no run reads"):
        model_delete(model=space, by=None)

    twin = trained_model(world, name="Twin")
    model_delete(model=space, by=None)
    assert next(model for _, model in models_of_run(run)) == twin
