"""How far a study hangs on its raters, compared with its own table and with loops over texts and judgements."""

from typing import Any

import numpy as np
import pytest

from annotation.models import Rater, RaterIdentity, Release
from correlations.models import Study
from correlations.results.sensitivity import ALL, COMBINED, Sensitivity
from correlations.services import execution
from correlations.services.inputs import StudyInputs
from correlations.services.reweighing import IMPORTED, NO_RELEASE, NOT_READ, ReferenceSide, reference_side, rescored
from correlations.services.studies import study_create
from tests.correlations.services.test_any_metric import make_imported_run
from tests.correlations.services.test_execution import run_study, slow_delta_bleu
from tests.correlations.services.test_imported_weights import imported  # noqa: F401 # a fixture
from tests.metrics.world import HYPOTHESES, REFERENCES, World

pytestmark = pytest.mark.django_db
REQUESTED = {"sensitivity": True, "compare": "all", "metrics": ["bleu", "delta_bleu"], "subsets": ["w>0", "all"]}


def sensitivity_of(study: Study) -> Sensitivity:
    part = study.read_result().sensitivity
    assert part is not None
    return part


def inputs_of(world: World, monkeypatch: pytest.MonkeyPatch, **changes: object) -> tuple[StudyInputs, Release]:
    """Return what the sensitivity of a study is computed from."""
    seen: list[tuple[StudyInputs, Release]] = []

    def spy(inputs: StudyInputs, table: Any, release: Release, progress: Any) -> None:
        seen.append((inputs, release))

    monkeypatch.setattr(execution, "study_sensitivity", spy)
    run_study(world, **REQUESTED | changes)
    return seen[0]


@pytest.fixture
def study(world: World) -> Study:
    return run_study(world, **REQUESTED)


def test_it_agrees_with_the_studys_own_table_to_the_last_bit(study: Study) -> None:
    result, part = study.read_result(), sensitivity_of(study)
    lead = result.lead.key
    assert {result.rows[index].metric for index in part.shown} == {"bleu", "delta_bleu"}
    for entry in part.rows:
        estimate = result.rows[entry.row].coefficients[lead]
        assert entry.value == estimate.value
        assert entry.sources["items"].ends == estimate.over_items
        assert entry.sources["items+outputs"].ends == estimate.over_items_and_raters
        assert set(entry.sources) == set(COMBINED)
    for curve in part.curves.values():
        assert curve.reason == ""
        for row, value in zip(part.shown, curve.points[-1].rows, strict=True):
            estimate = result.rows[row].coefficients[lead]
            assert (value.mean, value.spread) == (pytest.approx(estimate.value, abs=1e-15), pytest.approx(0, abs=1e-15))
            assert value.ends == pytest.approx((estimate.value, estimate.value), abs=1e-15)
            assert value.items == result.rows[row].items
    assert [len(part.curves[kind].points) for kind in ("outputs", "references", "number")] == [3, 3, 2]
    (pair,) = part.pairs
    assert pair.difference > 0
    sides = [(result.rows[row].label, result.rows[row].subset_label) for row in (pair.first, pair.second)]
    (compared,) = (each for each in result.comparisons if sorted(each.sides()) == sorted(sides))
    assert abs(compared.difference or 0) == pair.difference


def test_the_scheme_of_the_release_gives_the_studys_row(study: Study) -> None:
    result, schemes = study.read_result(), sensitivity_of(study).schemes
    lead = result.lead.key
    (own,) = (line for line in schemes.lines if line.is_own)
    assert own.key == "linear"
    for row, value in zip(schemes.rows, own.rows, strict=True):
        estimate = result.rows[row].coefficients[lead]
        assert (value.value, value.interval, value.difference) == (estimate.value, estimate.over_items, 0.0)
        assert value.items == result.rows[row].items
    others = {line.key: line for line in schemes.lines}
    assert {"median", "zscore", "reliability", "ones", "no_negatives"} < set(others)
    assert others["ones"].rows[0].value != own.rows[0].value


def test_a_draw_of_raters_is_what_a_loop_over_judgements_and_texts_gives(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs, release = inputs_of(world, monkeypatch, metrics=["delta_bleu"], subsets=["all"])
    (row,) = inputs.rows
    side = reference_side(inputs, release, [row])
    assert isinstance(side, ReferenceSide)
    times = np.array([2, 0, 1])  # of rater-0, rater-1 and rater-2

    (drawn,) = rescored(inputs, row, side.of_raters(times)[None])

    weights = {
        (name, index): 2 * (np.average(world.judgements[name, index], weights=times) - 1) / 4 - 1
        for name in REFERENCES
        for index in range(len(world.items))
    }
    for t, name in enumerate(HYPOTHESES):
        usable = [index for index in range(len(world.items)) if max(weights[each, index] for each in REFERENCES) > 0]
        texts = [
            (
                world.responses[name, index].text,
                [(world.responses[each, index].text, weights[each, index]) for each in REFERENCES],
            )
            for index in usable
        ]
        assert np.flatnonzero(drawn.valid[t]).tolist() == usable
        score = float(drawn.aggregate(drawn.statistics[t, drawn.valid[t]].sum(axis=0)))
        assert score == pytest.approx(slow_delta_bleu(texts), abs=1e-12)


def test_every_rater_once_gives_the_release_and_the_study(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs, release = inputs_of(world, monkeypatch)
    side = reference_side(inputs, release, inputs.rows)
    assert isinstance(side, ReferenceSide)
    assert inputs.referenced is not None
    weights = side.of_raters(np.ones(3, dtype=np.int64))
    assert weights == pytest.approx(inputs.referenced.weights, abs=1e-15)
    for row in inputs.rows:
        (again,), own = rescored(inputs, row, inputs.referenced.weights[None]), inputs.study_metric(row)
        assert np.array_equal(again.statistics, own.statistics)
        assert np.array_equal(again.valid, own.valid)


def test_without_a_release_only_outputs_and_items_are_drawn(world: World) -> None:
    runs = [make_imported_run(world), make_imported_run(world, lowest=1.0, highest=5.0)]
    metrics = [{"run": run.number} for run in runs]
    part = sensitivity_of(run_study(world, release="", metrics=metrics, subsets=["all"], sensitivity=True))
    assert part.missing == {"references": NO_RELEASE}
    assert part.curves["references"].reason == NO_RELEASE
    assert part.curves["number"].reason == "no metric of this study reads references"
    assert part.schemes.reason == NO_RELEASE
    assert part.pairs[0].ahead[ALL] == part.pairs[0].ahead["items+outputs"]
    assert len(part.curves["outputs"].points) == 3


def test_imported_weights_can_be_varied_but_not_drawn(world: World, imported: Release) -> None:  # noqa: F811
    part = sensitivity_of(run_study(world, **REQUESTED | {"release": "theirs/v1"}))
    assert part.missing == {"references": IMPORTED}
    assert part.curves["references"].reason == IMPORTED
    assert part.curves["number"].reason == ""
    assert {line.key for line in part.schemes.lines} == {"release", "ones", "no_negatives"}


def test_raters_who_are_not_known_cannot_be_drawn(world: World) -> None:
    for rater in Rater.objects.filter(project=world.project):
        RaterIdentity.objects.create(rater=rater, project=world.project, provider="aggregate", external_id=str(rater))
    part = sensitivity_of(run_study(world, **REQUESTED))
    assert all("their raters are not known" in reason for reason in part.missing.values())
    assert set(part.missing) == {"outputs", "references"}
    assert set(part.pairs[0].ahead) == {"items", ALL}


def test_a_study_of_metrics_without_weights_says_so(world: World) -> None:
    part = sensitivity_of(run_study(world, metrics=["bleu"], subsets=["all"], sensitivity=True))
    assert part.missing == {"references": NOT_READ}
    assert part.schemes.reason == NOT_READ
    assert part.pairs == ()


def test_without_a_bootstrap_nothing_is_drawn(world: World) -> None:
    assert sensitivity_of(run_study(world, **REQUESTED | {"bootstrap": 0})).reason == "no bootstrap was requested"


def test_it_is_part_of_the_signature_only_if_requested(world: World) -> None:
    def signature(**changes: object) -> str:
        specification = world.specification(**changes)
        return study_create(project=world.project, name="Cats", specification=specification, by=None)[0].signature

    assert signature() == signature(sensitivity=False) != signature(sensitivity=True)
