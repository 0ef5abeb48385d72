"""The usual settings of metrics: a study that gives a metric the shared and the special ones computes one click's."""

import pytest

from metrics.models import ScoreRun
from metrics.scoring.external import External
from metrics.scoring.registry import METRICS, get_metric
from metrics.selectors.usual import UsualSettings


@pytest.mark.parametrize("plain", [True, False])
def test_shared_and_special_parameters_make_the_metric_of_one_click(plain: bool) -> None:
    usual = UsualSettings("13a", plain=plain)
    for name in METRICS.keys() - {External.name}:
        known = {parameter.name for parameter in METRICS[name].parameter_list()}
        shared = {parameter: value for parameter, value in usual.shared.items() if parameter in known}
        studied = get_metric(name, **(shared | usual.special_parameters(name)))
        assert studied == get_metric(name, **usual.parameters(name)), name


def test_a_run_of_one_click_has_the_usual_settings_also_where_they_leave_something_open() -> None:
    """ΔBLEU's formula decides its smoothing, which a run stores."""
    usual = UsualSettings("13a", plain=False)
    stored = get_metric("delta_bleu", **usual.parameters("delta_bleu")).parameters()
    assert (usual.parameters("delta_bleu")["smoothing"], stored["smoothing"]) == (None, "none")
    assert usual.are_those_of(ScoreRun(metric="delta_bleu", parameters=stored))
    assert not usual.are_those_of(ScoreRun(metric="delta_bleu", parameters=stored | {"smoothing": "exp"}))


def test_metrics_with_trained_models_keep_case_beside_lowercase_of_a_release() -> None:
    usual = UsualSettings("13a", plain=False)
    assert usual.special_parameters("embedding_average") == {"lowercase": False}
    assert usual.special_parameters("bleu") == {}
    assert usual.sentence(["bleu", "embedding_average"]).endswith("Embedding average: case kept")
    plain = UsualSettings("13a", plain=True).sentence(["bleu", "ter", "am"])
    assert plain.endswith("TER and AM: case ignored"), "what the shared “case kept” does not hold for"
