"""Parameter studies, compared with scipy over scores of metrics that were run separately."""

from collections.abc import Sequence

import numpy as np
import pytest
from sacrebleu.metrics import BLEU
from scipy import stats

from annotation.core.jobs import job_request_cancel
from annotation.models import Item, JobState
from correlations.errors import StudyRefused
from correlations.models import ParameterStudy
from correlations.parameter_specification import read_values, usual_values
from correlations.services.parameter_execution import parameter_study_execute
from correlations.services.parameter_studies import parameter_study_create
from metrics.scoring.metric import Workspace
from metrics.scoring.models.language_model import LanguageModel
from metrics.scoring.registry import METRICS, get_metric
from metrics.scoring.segments import Segments
from metrics.services.scoring import model_store
from tests.metrics.trained import models_dir, queued_model, trained_model  # noqa: F401
from tests.metrics.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_dir")]
SYSTEMS = ["Echo", "Human", "Parrot", "Quill", "Random"]  # references are rated, too: five systems to correlate over


def specification_of(world: World, **changes: object) -> dict[str, object]:
    return {
        "release": "cat-references",
        "campaigns": ["Output ratings", "Reference ratings"],
        "systems": SYSTEMS,
        "metric": "bleu",
        "bootstrap": 20,
        "halves": 10,
    } | changes


def create_study(world: World, **changes: object) -> tuple[ParameterStudy, bool]:
    return parameter_study_create(
        project=world.project, name="Turns", specification=specification_of(world, **changes), by=None
    )


def run_study(world: World, **changes: object) -> ParameterStudy:
    study, _ = create_study(world, **changes)
    parameter_study_execute(study_id=study.pk)
    study.refresh_from_db()
    assert study.state == JobState.DONE, study.error
    return study


def models(world: World) -> tuple[str, str]:
    space = trained_model(world)
    language = trained_model(world, kind="language_model", name="Cat words", options={"order": 3})
    return space.reference, language.reference


def texts(world: World) -> Segments:
    """Return the texts of all items: each has a reference in the release, if not a positive one."""
    indices = range(len(world.items))
    return Segments(
        [[world.responses[name, index].text for index in indices] for name in SYSTEMS],
        [[world.responses[name, index].text for name in ("Human", "Random")] for index in indices],
    )


def rating(world: World, name: str, index: int) -> float:
    """Return the mean rating of an output; equal outputs of several systems share their ratings."""
    response_pk = world.responses[name, index].pk
    same = [system for system in SYSTEMS if world.responses[system, index].pk == response_pk]
    return float(np.mean([value for system in same for value in world.judgements[system, index]]))


def means(world: World, indices: Sequence[int] | None = None) -> list[float]:
    used = range(len(world.items)) if indices is None else indices
    return [float(np.mean([rating(world, name, index) for index in used])) for name in SYSTEMS]


def scores_of(world: World, name: str, **parameters: object) -> np.ndarray:
    """Compute system scores from texts that are prepared for this metric only."""
    return Workspace(texts(world), models=model_store()).statistics(get_metric(name, **parameters)).system_scores()


def test_every_value_of_am_fm_gives_the_coefficients_of_a_separate_computation(world: World) -> None:
    am, fm = models(world)

    study = run_study(
        world,
        metric={"name": "am_fm", "k": 4},
        sweeps=[
            {"parameter": "k", "values": [1, 2, 4]},
            {"parameter": "order", "values": [1, 2, 3]},
            {"parameter": "lambda", "values": [0, 0.5, 1]},
        ],
    )

    sweeps = {sweep["parameter"]: sweep for sweep in study.result["sweeps"]}
    parameters_in_use = {"k": 4, "order": 2, "balance": 0.8}
    assert study.specification["metric"]["parameters"]["am_model"] == am
    human = means(world)
    for name, values in (("k", [1, 2, 4]), ("order", [1, 2, 3]), ("balance", [0, 0.5, 0.8, 1])):
        points = sweeps[name]["points"]
        assert [point["value"] for point in points] == values
        assert points[sweeps[name]["chosen"]]["value"] == parameters_in_use[name]
        for point in points:
            scores = scores_of(
                world, "am_fm", **(parameters_in_use | {name: point["value"], "am_model": am, "fm_model": fm})
            )
            assert point["scores"] == pytest.approx(scores.tolist(), abs=1e-12)
            expected = stats.pearsonr(scores, human)
            assert point["system"]["pearson"]["value"] == pytest.approx(expected.statistic, abs=1e-9)
            assert point["system"]["p"] == pytest.approx(expected.pvalue, abs=1e-9)
            low, high = point["system"]["pearson"]["interval"]
            assert low <= high
            assert point["segment"]["n"] == 5 * len(world.items)
        best = max(points, key=lambda point: point["system"]["pearson"]["value"])
        assert points[sweeps[name]["best"]]["value"] == best["value"]
        assert sum(sweeps[name]["halves"]["shares"]) == pytest.approx(1)
        assert sum(sweeps[name]["cross"]["shares"]) == pytest.approx(1)


def test_orders_of_a_language_model_equal_models_trained_with_each_order(world: World) -> None:
    _, fm = models(world)
    store = model_store()
    trained = [
        trained_model(world, kind="language_model", name=f"Order {order}", options={"order": order}) for order in (1, 2)
    ]

    study = run_study(world, metric={"name": "fm", "model": fm}, sweeps=[{"parameter": "order", "values": [1, 2, 3]}])

    points = study.result["sweeps"][0]["points"]
    for model, point in zip(trained, points, strict=False):
        loaded: LanguageModel = store.load("language_model", model.reference)
        assert point["ngrams"]["of_order"] == loaded.n_ngrams[-1]
        assert point["ngrams"]["up_to"] == sum(loaded.n_ngrams)
        scores = scores_of(world, "fm", order=point["value"], model=model.reference)
        assert point["scores"] == pytest.approx(scores.tolist(), abs=1e-12)
    assert study.result["models"][0]["pruned"] is False


def test_leaving_out_a_system_gives_the_chosen_and_the_best_value(world: World) -> None:
    study = run_study(world, metric="chrf", sweeps=[{"parameter": "beta", "values": [0.5, 2, 8]}])

    sweep = study.result["sweeps"][0]
    human = np.array(means(world))
    for entry in sweep["without"]:
        remaining = [index for index, name in enumerate(SYSTEMS) if name != entry["system"]]
        coefficients = [
            stats.pearsonr(np.array(point["scores"])[remaining], human[remaining]).statistic
            for point in sweep["points"]
        ]
        assert entry["chosen"] == pytest.approx(coefficients[sweep["chosen"]], abs=1e-9)
        assert entry["best_then"] == int(np.argmax(coefficients))
        assert entry["best_then_value"] == pytest.approx(max(coefficients), abs=1e-9)


def test_values_are_chosen_on_one_split_and_judged_on_another(world: World) -> None:
    for index, item in enumerate(world.items):
        Item.objects.filter(pk=item.pk).update(split="dev" if index % 2 else "test")

    study = run_study(
        world,
        metric="bleu",
        sweeps=[{"parameter": "max_order", "values": [1, 2, 3, 4]}],
        choose_on="dev",
        judge_on="test",
    )

    splits = study.result["sweeps"][0]["splits"]
    assert splits["items"] == [20, 20]
    curves = []
    for odd in (1, 0):
        indices = [index for index in range(len(world.items)) if index % 2 == odd]
        human = means(world, indices)
        workspace = Workspace(texts(world))
        scores = [
            workspace.statistics(get_metric("bleu", max_order=order)).system_scores(indices) for order in (1, 2, 3, 4)
        ]
        curves.append([stats.pearsonr(system_scores, human).statistic for system_scores in scores])
    assert splits["curves"][0] == pytest.approx(curves[0], abs=1e-9)
    assert splits["judged_on"] == pytest.approx(curves[1][int(np.argmax(curves[0]))], abs=1e-9)


def test_any_parameter_of_any_metric_can_be_swept(world: World) -> None:
    study = run_study(world, metric="ter", sweeps=[{"parameter": "case_sensitive", "values": [False, True]}])
    assert study.result["negated"] is True
    point = study.result["sweeps"][0]["points"][0]
    assert point["scores"] == pytest.approx((-scores_of(world, "ter")).tolist())

    pooled = run_study(world, metric="distinct", sweeps=[{"parameter": "order", "values": [1, 2, 3]}])
    sweep = pooled.result["sweeps"][0]
    assert sweep["no_interval"].startswith("the metric is over all outputs as one pool")
    for point in sweep["points"]:
        assert point["scores"] == pytest.approx(scores_of(world, "distinct", order=point["value"]).tolist())
        assert point["system"]["pearson"]["interval"] is None
    assert (sweep["halves"], sweep["cross"]) == (None, None)


def test_the_references_that_count_can_be_swept_and_chosen_by_cross_validation(world: World) -> None:
    """At each threshold the score is sacrebleu's over the references of such a weight, on the items that have some."""
    subsets = ["w>0", "w>=0.5", "original"]
    study = run_study(
        world, metric={"name": "bleu", "max_order": 2}, sweeps=[{"parameter": "subset", "values": subsets}]
    )

    assert study.specification["sweeps"] == [{"parameter": "subset", "values": [*subsets, "all"]}]
    (sweep,) = study.result["sweeps"]
    assert [point["shown"] for point in sweep["points"]] == [*subsets, "all"]
    assert sweep["chosen"] == 3
    assert sum(sweep["cross"]["shares"]) == pytest.approx(1)
    names = ("Human", "Random")
    above = [index for index in range(len(world.items)) if any(world.weights[name, index] >= 0.5 for name in names)]
    assert 10 < len(above) < len(world.items)
    assert sweep["items"] == len(above)
    scorer = BLEU(max_ngram_order=2, tokenize="none", smooth_method="none", effective_order=False, lowercase=True)
    human = means(world, above)
    for least, point in ((0.5, sweep["points"][1]), (-1.0, sweep["points"][3])):
        streams = [
            [world.responses[name, i].text if world.weights[name, i] >= least else None for i in above]
            for name in names
        ]
        scores = [
            scorer.corpus_score([world.responses[system, i].text for i in above], streams).score / 100
            for system in SYSTEMS
        ]
        assert point["scores"] == pytest.approx(scores, abs=1e-9)
        expected = stats.pearsonr(scores, human).statistic
        assert point["system"]["pearson"]["value"] == pytest.approx(expected, abs=1e-9)
    with pytest.raises(StudyRefused, match="subset: found no release"):
        create_study(world, release="", sweeps=[{"parameter": "subset", "values": subsets}])


def test_models_can_be_swept(world: World) -> None:
    small = trained_model(world, name="Small", options={"components": 2})
    trained_model(world, name="Large", options={"components": 4})

    study = run_study(
        world,
        metric={"name": "am", "parameters": {"k": 2, "model": "small"}},
        sweeps=[{"parameter": "model", "values": ["small", "large"]}],
    )

    sweep = study.result["sweeps"][0]
    assert [point["shown"] for point in sweep["points"]] == ["Small v1", "Large v1"]
    assert sweep["points"][0]["value"] == small.reference
    # The first dimensions of a larger model of the same texts are the smaller model.
    assert sweep["points"][0]["scores"] == pytest.approx(sweep["points"][1]["scores"], abs=1e-5)


def test_default_sweeps_stay_within_the_models(world: World) -> None:
    models(world)

    study, _ = create_study(world, metric={"name": "am_fm", "k": 2})

    assert [(sweep["parameter"], sweep["values"]) for sweep in study.specification["sweeps"]] == [
        ("balance", [step / 10 for step in range(11)]),
        ("k", [1, 2, 3, 4]),
        ("order", [1, 2, 3]),
    ]


def test_equal_and_stored_specifications_give_the_existing_study(world: World) -> None:
    first, created = create_study(world, metric="bleu")
    repeated, created_again = create_study(
        world, metric={"name": "bleu", "parameters": {"max_order": 2}}, systems=SYSTEMS[::-1]
    )
    stored, _ = parameter_study_create(project=world.project, name="Again", specification=first.specification, by=None)

    assert (created, created_again) == (True, False)
    assert first == repeated == stored


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"metric": "bloo"}, "metric", "found 'bloo'; accepted: 'bleu'"),
        ({"metric": "am"}, "metric", "no LSA space yet"),
        ({"metric": 5}, "metric", "accepted: a name, or a mapping"),
        ({"metric": "external"}, "metric", "found scores made elsewhere"),
        ({"systems": ["Echo", "Quill"]}, "systems", "found 2; accepted: three or more"),
        ({"sweeps": [{"parameter": "colour"}]}, "sweeps", "found parameter 'colour'; accepted: max_order, tokenize"),
        ({"sweeps": [{"parameter": "max_order", "values": [1, 9]}]}, "sweeps", "found 9; accepted: an integer from 1"),
        ({"sweeps": [{"parameter": "max_order", "values": [2]}]}, "sweeps", "found 1 value; accepted: two or more"),
        ({"sweeps": [{"parameter": "max_order"}] * 2}, "sweeps", "a parameter twice"),
        ({"sweeps": [{"parameter": "max_order"}, {"parameter": "order"}]}, "sweeps", "a parameter twice"),  # its key
        ({"sweeps": ["max_order"]}, "sweeps", "a list of mappings"),
        ({"coefficient": "r"}, "coefficient", "accepted: pearson, spearman, kendall, somers_d"),
        ({"choose_on": "dev"}, "judge_on", "found one split"),
        ({"choose_on": "dev", "judge_on": "test"}, "choose_on", "found 'dev'; accepted: none, since"),
        ({"subset": "w>7"}, "subset", "a weight from -1 to 1"),
        ({"bootstrap": -1}, "bootstrap", "a whole number from 0"),
        ({"release": "dogs"}, "release", "accepted: cat-references/v1"),
        ({"colour": 1}, "colour", "accepted: bootstrap"),
    ],
)
def test_a_wrong_field_is_named_with_what_is_accepted(
    world: World, change: dict[str, object], field: str, message: str
) -> None:
    with pytest.raises(StudyRefused) as refusal:
        create_study(world, **change)

    assert message in refusal.value.fields[field][0]


def test_more_dimensions_than_the_model_has_are_refused(world: World) -> None:
    models(world)
    with pytest.raises(StudyRefused, match="k: found 9; accepted: up to 4, which is what the trained model has"):
        create_study(world, metric={"name": "am", "k": 2}, sweeps=[{"parameter": "k", "values": [1, 9]}])


def test_an_unrated_system_is_refused_with_its_name(world: World) -> None:
    with pytest.raises(StudyRefused, match="systems: found Random, whose outputs have no rating in Output ratings"):
        create_study(world, metric="bleu", campaigns=["Output ratings"])


def test_a_cancelled_study_is_not_computed(world: World) -> None:
    study, _ = create_study(world, metric="bleu")
    job_request_cancel(study)
    parameter_study_execute(study_id=study.pk)
    study.refresh_from_db()
    assert (study.state, study.result) == (JobState.CANCELLED, None)


def test_usual_values_of_every_parameter_are_valid() -> None:
    usual = [
        (metric.name, parameter, value)
        for metric in METRICS.values()
        for parameter in metric.parameter_list()
        if parameter.name != "order"
        for value in usual_values(parameter, 10 if parameter.name == "k" else None)
    ]

    for _, parameter, value in usual:
        parameter.check(value)  # raises if the value is not accepted
    assert {"am", "am_fm", "bleu", "chrf", "ter"} <= {name for name, _, _ in usual}


def test_values_can_be_written_as_lists_ranges_and_steps() -> None:
    k, balance = (parameter for parameter in METRICS["am_fm"].parameter_list() if parameter.name in ("k", "balance"))
    assert read_values(k, "1, 2, 5..7") == (1, 2, 5, 6, 7)
    assert read_values(balance, "0..1 by 0.1")[3] == 0.3
    for wrong in ("1..", "5..1", "0..1 by 0", "0..1 by 0.0001"):
        with pytest.raises(ValueError, match="accepted"):
            read_values(balance, wrong)
