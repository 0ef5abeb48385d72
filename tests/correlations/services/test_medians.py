"""A study with imported medians, whose raters are not known."""

from annotation.models import Rater, RaterIdentity
from correlations.services.execution import study_execute
from correlations.services.studies import study_create
from tests.metrics.world import World


def test_medians_have_intervals_over_items_but_not_over_raters(world: World) -> None:
    rater = Rater.objects.filter(ratings__campaign=world.output_campaign).first()
    RaterIdentity.objects.create(rater=rater, project=world.project, provider="aggregate", external_id="median")
    study, _ = study_create(project=world.project, name="Medians", specification=world.specification(), by=None)
    study_execute(study_id=study.pk)
    study.refresh_from_db()
    rho = study.result["rows"][0]["rho"]
    assert rho["value"] is not None
    assert len(rho["over_items"]) == 2
    assert rho["over_items_and_raters"] is None
    assert rho["over_items_and_raters_reason"] == "only medians or means were imported: their raters are not known"
    level = study.read_result().levels[0].system
    pearson = level.coefficients["pearson"]
    assert pearson.over_items_and_systems is not None
    assert (pearson.over_raters, pearson.over_items_systems_and_raters, level.raters) == (None, None, 0)
    assert level.raters_reason == "only medians or means were imported: their raters are not known"
