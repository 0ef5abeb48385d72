import pytest

pytest_plugins = ["pytester"]


def test_fast_skips_slow_tests_and_runs_new_ones(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.durations.IS_XDIST_WORKER", False)
    pytester.makeconftest("from tests.durations import *")
    pytester.makepyfile(
        """
        import pytest, time
        def test_slow(): time.sleep(0.3)
        def test_quick(): pass
        @pytest.fixture
        def db(): pass
        def test_rows(db): pass
        """
    )
    options = ["-p", "no:django", "-p", "no:randomly"]
    for _ in range(2):
        pytester.runpytest(*options, "--fast").assert_outcomes(passed=2, deselected=1)
    pytester.runpytest(*options).assert_outcomes(passed=3)
    pytester.runpytest(*options, "--fast").assert_outcomes(passed=2, deselected=1)
    pytester.makepyfile("def test_quick(): pass\ndef test_new(): pass")
    pytester.runpytest(*options, "--fast").assert_outcomes(passed=2)
