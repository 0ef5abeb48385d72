"""A study marks rows whose models were trained on its outputs; cross-validated predictions are not marked."""

from dataclasses import replace

import pytest
from django.urls import reverse

from annotation.models import JobState
from correlations.selectors.headlines import study_headline
from correlations.selectors.trained import MARK, trained_on
from correlations.selectors.trained_answer import trained_answer
from correlations.services.execution import study_execute
from correlations.services.studies import study_create
from metrics.selectors.predictions import CROSS_VALIDATED
from tests.metrics.quality import trained_estimator
from tests.metrics.trained import models_dir  # noqa: F401
from tests.metrics.world import HYPOTHESES, World

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_dir")]


def test_rows_whose_models_have_seen_the_outputs_are_marked(world: World, viewer, as_user) -> None:
    model = trained_estimator(world, cross_validate=True)
    run = model.report["cross_validation"]["run"]
    metrics = ["quality_estimate", {"run": run}, "bleu"]
    specification = world.specification(metrics=metrics, subsets=["all"], unit_size=1, bootstrap=0)
    study, _ = study_create(project=world.project, name="Cats", specification=specification, by=None)
    study_execute(study_id=study.pk)
    study.refresh_from_db()
    assert study.state == JobState.DONE, study.error

    result = study.read_result()
    outputs = {world.responses[name, index].pk for name in HYPOTHESES for index in range(len(world.items))}
    assert [trained_on(study, row) for row in result.rows] == [(len(outputs), len(outputs)), None, None]
    headline = study_headline(study, result)
    assert headline is not None
    assert headline.best.row.metric == "quality_estimate"  # it remembers
    assert f"Its model was trained on {len(outputs)} of these {len(outputs)} outputs" in headline.tuned
    predicted = result.rows[1].label.removesuffix(CROSS_VALIDATED)
    assert headline.models.startswith("Of the trained models, Quality estimate")
    assert f", {predicted} " in headline.models
    assert "wrong way round" not in headline.models
    rows = list(result.rows)
    below = replace(rows[1].coefficients["spearman"], value=-0.2, over_items=(-0.3, -0.1))
    rows[1] = replace(rows[1], few_units="", coefficients=rows[1].coefficients | {"spearman": below})
    turned = trained_answer(study, replace(result, rows=tuple(rows)))
    assert turned.endswith(
        f"−0.20 [−0.30, −0.10] for {predicted}: {predicted} orders systems the wrong way round on one item."
    )
    rows[0] = replace(rows[0], metric="bleu", label="BLEU")  # one model is left
    alone = trained_answer(study, replace(result, rows=tuple(rows)))
    assert alone.startswith(f"The trained model {predicted}, cross-validated, has r = ")
    assert "BLEU, the highest of the others, " in alone
    assert trained_answer(study, replace(result, rows=tuple(rows[:1]))) == ""
    page = as_user(viewer).get(reverse("correlations:study-detail", args=[world.project.slug, study.pk]))
    assert page.content.decode().count(f">{MARK}</button>") == 1
