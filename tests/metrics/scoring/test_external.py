import math

import numpy as np
import pytest

from metrics.scoring.external import External
from metrics.scoring.metric import Workspace
from metrics.scoring.registry import METRICS, get_metric
from metrics.scoring.segments import Segments

CONTENT = "sha256:" + "3f" * 32


def test_each_says_its_own_name_direction_and_range() -> None:
    metric = get_metric("external", scorer="TER-x", lower_is_better=True, lowest=0, highest=2.5)
    assert (metric.label, metric.higher_is_better, metric.low, metric.high) == ("TER-x", False, 0, 2.5)


def test_without_bounds_the_range_is_open() -> None:
    metric = External(scorer="COMET-22")
    assert (metric.low, metric.high, metric.higher_is_better) == (-math.inf, math.inf, True)
    assert External.label == "Scored elsewhere"


def test_a_signature_names_what_was_imported() -> None:
    metric = External(scorer="COMET-22", lowest=0.0, highest=1.0, content=CONTENT)
    assert metric.signature() == (
        "external|name:COMET-22|lower:no|low:0|high:1|level:segment|content:3f3f3f3f3f3f|version:0.1.0"
    )
    rebuilt = get_metric("external", **metric.parameters())
    assert rebuilt == metric
    assert hash(rebuilt) == hash(metric)


def test_a_system_has_the_mean_of_its_segments_that_have_a_score() -> None:
    statistics = External().statistics([[0.5, 1.0, np.nan], [np.nan, np.nan, np.nan]])
    np.testing.assert_array_equal(statistics.system_scores(), [0.75, np.nan])
    assert statistics.valid.tolist() == [[True, True, False], [False, False, False]]


def test_nothing_computes_it() -> None:
    assert "imported from a file" in METRICS["external"].unavailable()
    workspace = Workspace(Segments([["a"]], [["a"]]))
    with pytest.raises(ValueError, match="external: found texts to score; accepted: stored scores"):
        workspace.statistics(External())
    with pytest.raises(ValueError, match="level: found scores of systems alone; accepted here: scores of segments"):
        External(level="system").statistics([[0.5]])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"scorer": " COMET"}, "scorer: found ' COMET'; accepted: a name of up to 80 characters"),
        ({"scorer": "a|b"}, r"scorer: found 'a\|b'"),
        ({"scorer": "a\nb"}, "scorer: found "),
        ({"scorer": "x" * 81}, "scorer: found "),
        ({"lowest": 1.0, "highest": 1.0}, "highest: found 1; accepted: a number above the lowest, 1"),
        ({"lowest": -math.inf}, "lowest: found -inf; accepted: a finite number, or none"),
        ({"highest": math.nan}, "highest: found nan; accepted: "),
        ({"level": "document"}, "level: found 'document'; accepted: 'segment', 'system'"),
        ({"content": "sha256:12"}, "content: found 'sha256:12'; accepted: sha256: and 64 hexadecimal digits"),
    ],
)
def test_it_refuses_by_name(parameters: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        External(**parameters)
