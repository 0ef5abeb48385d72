"""A metric on one line."""

import pytest

from metrics.scoring.registry import METRICS, get_metric
from metrics.scoring.written import read_metric


def test_a_name_alone_is_the_metric_with_its_usual_parameters() -> None:
    assert read_metric(" chrf ") == ("chrf", {})


def test_keys_are_names_or_those_of_signatures() -> None:
    assert read_metric("am_fm:lambda=0.5, k=20, fm=sha256:00") == (
        "am_fm",
        {"balance": 0.5, "k": 20, "fm_model": "sha256:00"},
    )


@pytest.mark.parametrize("name", METRICS)
def test_what_a_signature_says_is_read_back(name: str) -> None:
    metric = get_metric(name)
    written = ",".join(
        f"{parameter.key}={parameter.written(value)}"
        for parameter in metric.parameter_list()
        if parameter.kind != "model" and (value := getattr(metric, parameter.name)) is not None
    )
    assert get_metric(name, **read_metric(f"{name}:{written}")[1]) == metric


def test_what_cannot_be_read_is_left_for_the_metric_to_refuse_by_name() -> None:
    name, parameters = read_metric("bleu:order=two")
    with pytest.raises(ValueError, match="max_order: found 'two'; accepted: an integer from 1 to 4"):
        get_metric(name, **parameters)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("bloo", "metric: found 'bloo'; accepted: 'bleu'"),
        ("bleu:colour=red", "bleu: found 'colour=red'; accepted: max_order= or order=, tokenize= or tok="),
        ("bleu:order", "bleu: found 'order'; accepted: max_order="),
    ],
)
def test_an_unknown_name_is_refused_with_what_is_accepted(written: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_metric(written)
