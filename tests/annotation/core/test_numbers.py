"""Numbers on pages, in texts and in downloads: a rounded zero has no sign, and a minus is no hyphen."""

from collections.abc import Callable

import pytest

from annotation.campaigns.scales.base import three_decimals
from annotation.core.numbers import decimals
from annotation.dry_runs import selectors as dry_runs
from annotation.records.services import wording
from annotation.references.releases.files import card
from annotation.results.selectors import sentences
from annotation.weighting.scheme import two_decimals
from correlations.charts import data as charts
from correlations.management import studying
from metrics.templatetags import report

BELOW_ZERO = -0.00001  # to any number of decimals that pages show, this is 0
FORMATS: list[Callable[[float], str]] = [
    decimals,
    sentences.number,
    dry_runs._signed,
    wording.number,
    card._number,
    two_decimals,
    three_decimals,
    charts.signed,
    studying.three_decimals,
    report.signed,
    lambda value: report.signed(value, 4),
    lambda value: report.number(value, 2),
    lambda value: decimals(value, plus=True),
]


@pytest.mark.parametrize("written", FORMATS)
@pytest.mark.parametrize("value", [BELOW_ZERO, -0.0, 0.0, -BELOW_ZERO])
def test_a_zero_has_no_sign(written: Callable[[float], str], value: float) -> None:
    assert set(written(value)) <= {"0", "."}


def test_other_numbers_keep_their_sign() -> None:
    assert [decimals(value, plus=True) for value in (-0.5, 0.5, 1234.567)] == ["−0.50", "+0.50", "+1,234.57"]
    assert (decimals(-0.006), decimals(-0.004, 3), report.signed(-0.5, 2)) == ("−0.01", "−0.004", "−0.50")
