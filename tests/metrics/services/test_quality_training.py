"""Quality estimators learn from a project's ratings; what they predict without having seen it becomes scores."""

from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.utils import timezone
from scipy.stats import pearsonr

from annotation.campaigns.scales import SCALES
from annotation.core.errors import AnnotationError, JobLost
from annotation.core.jobs import job_claim
from annotation.models import Criterion, Item, JobState, Participation, Rater, Response, ResponseSource, SourceKind
from annotation.removal.services import deletion_execute, deletion_request
from metrics.models import ScoreRun, TrainedModel
from metrics.scoring.qe.cross_validation import cross_validated
from metrics.scoring.qe.model import QualityEstimator
from metrics.scoring.qe.options import QualityOptions
from metrics.scoring.qe.plans import WrittenText
from metrics.scoring.qe.steps import CurvePoint, Step
from metrics.scoring.qe.training import train
from metrics.selectors.arrays import run_arrays
from metrics.selectors.models import folder_of
from metrics.selectors.predictions import cross_validation_of, predictions_of
from metrics.selectors.runs import run_metric
from metrics.selectors.seen import known_outputs
from metrics.selectors.training_ratings import RatedOutputs, rated_outputs
from metrics.services import quality_training as services
from metrics.services.learning_curves import LearningCurves
from metrics.services.model_rows import ModelRequest
from metrics.services.runs import score_run_create, score_run_execute
from metrics.services.scoring import model_store
from metrics.services.training import model_execute, model_train_on_dataset
from tests.metrics.quality import RIDGE, queued_estimator, trained_estimator
from tests.metrics.trained import models_dir  # noqa: F401
from tests.metrics.world import CRITERIA, HYPOTHESES, World

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_dir")]

CREDITED = ["Echo", "Human", "Parrot", "Quill"]  # on some items Echo says what Human says: rated once, for both


def rated_of(world: World, statistic: str = "median", criteria: tuple[str, ...] = CRITERIA) -> RatedOutputs:
    return rated_outputs([world.output_campaign], criteria, statistic)


def by_text(world: World) -> dict[tuple[str, str], list[float]]:
    """The judgements of each different output, by its item and its text."""
    return {
        (world.items[index].external_id, world.responses[name, index].text): world.judgements[name, index]
        for name in HYPOTHESES
        for index in range(len(world.items))
    }


@pytest.mark.parametrize(("statistic", "of"), [("median", np.median), ("mean", np.mean)])
def test_an_output_has_the_median_or_the_mean_of_its_judgements(world: World, statistic: str, of: Any) -> None:
    rated = rated_of(world, statistic)

    items = dict(Response.objects.values_list("pk", "item__external_id"))
    ratings = {
        (items[pk], each.output): each.rating
        for pk, each in zip(rated.response_ids.tolist(), rated.instances, strict=True)
    }
    assert ratings == pytest.approx({key: float(of(values)) for key, values in by_text(world).items()})
    assert {each.source for each in rated.instances} == {"what did you see ?"}
    assert list(rated.systems) == CREDITED
    assert (rated.low, rated.high, rated.n_raters) == (1, 5, 3)


def test_ratings_of_excluded_raters_do_not_count_as_in_studies(world: World) -> None:
    before = rated_of(world).n_ratings
    rater = Rater.objects.get(pseudonym="rater-0")
    Participation.objects.create(campaign=world.output_campaign, rater=rater, order_seed=0, excluded_at=timezone.now())

    rated = rated_of(world)

    assert (rated.n_raters, rated.n_ratings) == (2, before * 2 // 3)


def test_a_model_says_what_it_learnt_from_and_which_outputs_it_has_seen(world: World) -> None:
    model = trained_estimator(world)

    rated, report = rated_of(world), model.report
    assert (report["rated_outputs"], report["raters"]) == (len(rated.instances), 3)
    assert report["systems"] == CREDITED
    (row,) = report["overlap"]
    # The item's text is the same everywhere, so an output is the same wherever its text is.
    seen = {each.output for each in rated.instances}
    outputs = {response.pk: response.text for response in world.responses.values()}
    assert row["outputs"] == sum(text in seen for text in outputs.values())
    assert row["outputs_of"] == len(outputs)
    # All items have one text.
    assert row["same_source"] == row["outputs_of"] - row["outputs"]
    estimator = model_store().load(QualityEstimator.kind, model.reference)
    random = ResponseSource.objects.filter(system=world.systems["Random"])
    of_random = [text not in seen for pk, text in outputs.items() if random.filter(response=pk).exists()]
    assert known_outputs(estimator, random, CREDITED).same_system == 0
    assert known_outputs(estimator, random, ["Random"]).same_system == sum(of_random) > 0
    assert estimator.digest == model.digest
    assert not ScoreRun.objects.exists()
    assert not services.checkpoint_folder(model).exists()


def test_cross_validated_predictions_become_scores_of_the_rated_outputs(world: World) -> None:
    model = trained_estimator(world, cross_validate=True)

    rated = rated_of(world)
    run = ScoreRun.objects.get(state=JobState.DONE)
    validation = cross_validation_of(run)
    assert validation is not None
    assert (validation.model, validation.folds, validation.seed) == (model, 5, 1)
    assert validation.together == model.options["folds"] == "inputs"
    assert model.report["cross_validation"]["read_before"] == 0
    assert model.report["cross_validation"]["run"] == run.number
    # The same call of the pure package, by itself.
    expected = cross_validated(rated.instances, QualityOptions(**RIDGE), folds=5, seeds=(1,))
    by_response = dict(zip(rated.response_ids.tolist(), expected.values[0].tolist(), strict=True))
    arrays = run_arrays(run)
    for place, system in enumerate(arrays.systems):
        ids = [world.responses[system.name, index].pk for index in range(len(world.items))]
        of_system = [by_response.get(pk, np.nan) for pk in ids]
        np.testing.assert_array_equal(arrays.scores[place], of_system)
    ratings = [each.rating for each in rated.instances]
    assert model.report["cross_validation"]["pearson"] == pytest.approx(pearsonr(expected.values[0], ratings)[0])
    assert run_metric(run).label == "Cats rated v1, cross-validated"


def test_scores_of_outputs_that_it_was_trained_on_say_so(world: World) -> None:
    trained_estimator(world)
    run, _ = score_run_create(
        project=world.project,
        dataset=world.dataset,
        systems=[world.systems[name] for name in ("Quill", "Random")],
        metric="quality_estimate",
        parameters={},
        by=None,
    )
    score_run_execute(run_id=run.pk)
    run.refresh_from_db()

    assert run.state == JobState.DONE, run.error
    assert "|prompts:" in run.signature
    outputs = {(name, index): response for (name, index), response in world.responses.items()}
    scored = {response.pk: response.text for (name, _), response in outputs.items() if name in ("Quill", "Random")}
    rated = {each.output for each in rated_of(world).instances}
    expected = sum(text in rated for text in scored.values())
    assert 0 < expected < len(scored)
    new = {"same_source": len(scored) - expected, "same_system": 0}
    assert run.report["seen"] == {"outputs": expected, "of": len(scored)} | new


def test_the_same_training_is_copied_and_still_cross_validated(world: World) -> None:
    first = trained_estimator(world)
    curve = [{"number": 1, "stage": "rated", "loss": 0.5, "pearson": 0.1, "spearman": 0.1}]
    TrainedModel.objects.filter(pk=first.pk).update(report=first.report | {"curves": {"whole": curve}})
    second = trained_estimator(world, request={"name": "Again"}, cross_validate=True)

    assert second.digest == first.digest
    assert second.report["same_as"] == {"id": first.pk, "name": str(first)}
    assert second.report["curves"] == {"whole": curve}
    assert "run" in second.report["cross_validation"]


def test_other_ratings_are_another_training(world: World) -> None:
    models = [
        trained_estimator(world),
        trained_estimator(world, ratings={"criteria": ["relevance"]}),
        trained_estimator(world, ratings={"statistic": "mean"}),
        trained_estimator(world, request={"options": RIDGE | {"seed": 2}}),
    ]

    assert len({model.training_hash for model in models}) == 4


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"request": {"kind": "lsa", "options": {}}}, "kind", "accepted of ratings: quality"),
        ({"request": {"options": {"estimator": "magic"}}}, "estimator", "accepted: 'network', 'ridge'"),
        ({"ratings": {"campaigns": []}}, "campaigns", "accepted: one or more with ratings"),
        ({"ratings": {"statistic": "mode"}}, "statistic", "accepted: median, mean"),
    ],
)
def test_wrong_requests_are_refused_at_their_field(world: World, changes: dict, field: str, message: str) -> None:
    with pytest.raises(AnnotationError) as refused:
        queued_estimator(world, **changes)

    assert message in refused.value.fields[field][0]
    assert not TrainedModel.objects.exists()


def test_a_preference_is_no_rating_to_learn_from(world: World) -> None:
    relative = next(key for key, scale in SCALES.items() if scale.is_relative)
    Criterion.objects.filter(campaign=world.output_campaign, name="relevance").update(kind=relative)

    with pytest.raises(AnnotationError) as refused:
        queued_estimator(world, ratings={"criteria": ["relevance"]})

    assert "accepted: criteria that rate one output" in refused.value.fields["criteria"][0]


def test_without_the_library_a_network_is_refused_with_the_remedy(world: World, monkeypatch: Any) -> None:
    monkeypatch.setattr(services, "unavailable", lambda: "PyTorch is not installed; pip install torch")

    with pytest.raises(AnnotationError, match=r"A network cannot be trained here\. PyTorch is not installed"):
        queued_estimator(world, request={"options": {"estimator": "network"}})


def test_texts_alone_cannot_train_it(world: World) -> None:
    request = ModelRequest(world.project, None, "Texts", QualityEstimator.kind, RIDGE)

    with pytest.raises(AnnotationError) as refused:
        model_train_on_dataset(request=request, dataset=world.dataset, texts=["messages"])

    assert "learns from ratings" in refused.value.fields["kind"][0]


def test_a_cross_validation_whose_worker_died_goes_on_with_the_folds_that_are_left(
    world: World, monkeypatch: Any
) -> None:
    learnt: list[int] = []
    dies = True

    def counted(instances: Any, *args: Any, **options: Any) -> Any:
        learnt.append(len(instances))
        return train(instances, *args, **options)

    def validated(self: LearningCurves, step: Step) -> None:
        if dies and step.run == 3:
            raise JobLost("The worker died.")

    monkeypatch.setattr("metrics.scoring.qe.cross_validation.train", counted)
    monkeypatch.setattr(LearningCurves, "validated", validated)
    model = queued_estimator(world, cross_validate=True)

    model_execute(model_id=model.pk)
    assert len(learnt) == 3
    assert services.checkpoint_folder(model).exists()
    TrainedModel.objects.filter(pk=model.pk).update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    dies = False
    model_execute(model_id=model.pk)

    model.refresh_from_db()
    assert (model.state, model.attempt, len(learnt)) == (JobState.DONE, 2, 6)
    assert not services.checkpoint_folder(model).exists()


@pytest.mark.parametrize(
    ("fields", "is_kept"),
    [
        ({"state": JobState.QUEUED}, True),
        ({"state": JobState.CANCELLED, "finished_at": timezone.now() - timedelta(days=6)}, True),
        ({"state": JobState.CANCELLED, "finished_at": timezone.now() - timedelta(days=8)}, False),
        (None, False),
    ],
)
def test_checkpoints_that_no_training_goes_on_from_are_swept(
    world: World, fields: dict[str, Any] | None, is_kept: bool
) -> None:
    model = queued_estimator(world)
    folder = services.checkpoint_folder(model)
    folder.mkdir(parents=True)
    if fields is None:
        TrainedModel.objects.filter(pk=model.pk).delete()
    else:
        TrainedModel.objects.filter(pk=model.pk).update(**fields)

    services.checkpoints_sweep()

    assert folder.exists() is is_kept


def test_with_a_campaign_go_the_models_of_its_ratings_their_files_and_their_scores(
    world: World, django_capture_on_commit_callbacks: Any
) -> None:
    model = trained_estimator(world, cross_validate=True)
    others = queued_estimator(world, request={"name": "Of another campaign"})
    TrainedModel.objects.filter(pk=others.pk).update(source=others.source | {"campaigns": ["Another"]})
    predicted = set(predictions_of(model))
    read, _ = score_run_create(
        project=world.project,
        dataset=world.dataset,
        systems=[world.systems["Quill"]],
        metric="quality_estimate",
        parameters={},
        by=None,
    )
    world.output_campaign.state = "closed"
    world.output_campaign.save()
    deletion = deletion_request(row=world.output_campaign, confirmation=world.output_campaign.name)

    with django_capture_on_commit_callbacks(execute=True):
        deletion_execute(deletion_id=deletion.pk)

    deletion.refresh_from_db()
    assert deletion.state == JobState.DONE, deletion.error
    assert {"1 model", "2 score runs"} <= set(deletion.rows)
    assert list(TrainedModel.objects.all()) == [others]
    assert predicted
    assert not ScoreRun.objects.filter(pk__in=[read.pk, *(run.pk for run in predicted)]).exists()
    assert not folder_of(model).exists()


def test_progress_says_which_pass_it_is_and_keeps_a_curve_that_fits_a_page(world: World) -> None:
    model = queued_estimator(world)
    claim = job_claim(TrainedModel, model.pk)
    assert claim is not None
    curves = LearningCurves(model, claim, stages=2)
    for number in range(1, 501):
        point = CurvePoint(number, "rated", 0.5, number / 1000, float("nan"))
        curves.throttle.last = float("-inf") if number == 500 else float("inf")  # only the last report is due
        curves.trained(Step(number, 500, point, point))

    model.refresh_from_db()
    assert (model.progress_done, model.progress_total) == (1000, 2000)
    assert model.progress_note == "Pass 500 of 500, the best so far 500 (Pearson’s r 0.50)"
    stored = model.report["curves"]["whole"]
    assert (len(stored), stored[0]["number"], stored[-1]) == (
        200,
        1,
        {"number": 500, "stage": "rated", "loss": 0.5, "pearson": 0.5, "spearman": None},
    )
    # A worker that goes on keeps what was stored.
    assert LearningCurves(model, claim, stages=2).as_json() == model.report["curves"]


def test_plans_with_references_learn_from_those_of_rated_and_of_other_items(world: World) -> None:
    rated_item, other = (
        world.items[0],
        Item.objects.create(
            dataset=world.dataset, external_id="more", position=99, message="and then ?", split="train"
        ),
    )
    for item, text in ((rated_item, "a cat on a mat"), (other, "the dog left")):
        response = Response.objects.create(item=item, text=text, text_key=text)
        ResponseSource.objects.create(response=response, item=item, kind=SourceKind.HUMAN)

    rated = rated_outputs([world.output_campaign], CRITERIA, "median", with_references=True)

    assert {each.references for each in rated.instances} == {(), ("a cat on a mat",)}
    assert list(rated.written) == [WrittenText("and then ?", "the dog left", complete=False)]
    assert trained_estimator(world, request={"options": RIDGE | {"plan": "S4"}}).report["rated_outputs"]
