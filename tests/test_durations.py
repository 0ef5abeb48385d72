import pytest

pytest_plugins = ["pytester"]


def test_fast_leaves_out_what_took_long_and_runs_what_is_new(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.durations.IS_XDIST_WORKER", False)
    pytester.makeconftest("from tests.durations import *")
    pytester.makepyfile("import time\ndef test_slow(): time.sleep(0.3)\ndef test_quick(): pass")
    options = ["-p", "no:django", "-p", "no:randomly"]
    pytester.runpytest(*options, "--fast").assert_outcomes(passed=2)
    pytester.runpytest(*options, "--fast").assert_outcomes(passed=1, deselected=1)
    pytester.runpytest(*options).assert_outcomes(passed=2)
