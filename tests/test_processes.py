from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

TESTS = """
    import os, sys
    from pathlib import Path

    import pytest

    @pytest.fixture(scope="session")
    def of_session():
        yield os.getpid()
        Path("ended").open("a").write(f"{os.getpid()} ")

    def test_passes(of_session, tmp_path):
        assert of_session == os.getpid() != PARENT
        assert tmp_path.parent.name in ("p0", "p1", "p2")

    def test_fails(of_session):
        print("what it printed")
        assert 1 + 1 == 3

    @pytest.mark.skip(reason="not today")
    def test_is_skipped(): pass

    def test_passes_last(of_session): pass
"""
ENDS = """
    import os

    def test_before(): pass
    def test_ends_its_process(): os._exit(STATUS)
    def test_after(): pass
"""
OPTIONS = ["-p", "no:django", "-p", "no:xdist", "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "tests.processes"]


@pytest.fixture(autouse=True)
def _finds_the_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent.parent))


def test_files_run_in_forked_processes_and_what_they_report_is_shown(pytester: pytest.Pytester) -> None:
    for name in ("test_one", "test_two"):
        pytester.makepyfile(**{name: TESTS.replace("PARENT", "int(os.environ['PARENT'])")})
    pytester.makeconftest("import os\nos.environ['PARENT'] = str(os.getpid())")
    result = pytester.runpytest_subprocess("-n", "2", *OPTIONS)
    result.assert_outcomes(passed=4, failed=2, skipped=2)
    result.stdout.fnmatch_lines(["*test_*.py:17: AssertionError*", "*what it printed*"])
    ended = (pytester.path / "ended").read_text().split()
    assert 1 <= len(ended) == len(set(ended)) <= 2
    outcomes = pytester.runpytest_subprocess("-n", "2", "-x", *OPTIONS).parseoutcomes()
    assert outcomes["failed"] == 1
    assert outcomes.get("passed", 0) < 4
    assert len((pytester.path / "ended").read_text().split()) > len(ended), "fixtures of the session are taken down"


@pytest.mark.parametrize("status", [0, 3])
def test_a_process_that_ends_fails_its_test_and_another_runs_the_rest(pytester: pytest.Pytester, status: int) -> None:
    pytester.makepyfile(test_one="def test_alone(): pass", test_two=ENDS.replace("STATUS", str(status)))
    result = pytester.runpytest_subprocess("-n", "2", *OPTIONS)
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*The process that ran test_two.py::test_ends_its_process has ended.*"])


def test_an_error_outside_tests_fails_the_run(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture(scope="session")
        def cannot_end():
            yield
            raise OSError("disk full")

        def test_one(cannot_end): pass
        """
    )
    result = pytester.runpytest_subprocess("-n", "1", *OPTIONS)
    assert result.ret
    assert "disk full" in result.stdout.str() + result.stderr.str()
