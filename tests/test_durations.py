from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.conftest import begin_with_the_longest

pytest_plugins = ["pytester"]


def test_fast_skips_slow_tests_and_runs_new_ones(pytester: pytest.Pytester) -> None:
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


def sorted_names(*names: str, seconds: dict[str, float]) -> list[str]:
    items: list[Any] = [SimpleNamespace(nodeid=f"tests/{name}::test") for name in names]
    begin_with_the_longest(cast(list[pytest.Item], items), {f"tests/{file}": took for file, took in seconds.items()})
    return [item.nodeid.removeprefix("tests/").removesuffix("::test") for item in items]


def test_the_longest_files_begin_and_short_ones_keep_their_random_order() -> None:
    """Files of one world count together; a file that never ran begins early if files like it take long."""
    seconds = {"b.py": 1.0, "a.py": 2.0, "long.py": 9.0, "api/test_one.py": 6.0, "api/test_two.py": 6.0}
    names = ("b.py", "new.py", "long.py", "api/test_two.py", "a.py", "browser/new.py")
    expected = ["browser/new.py", "api/test_two.py", "long.py", "b.py", "new.py", "a.py"]
    assert sorted_names(*names, seconds=seconds) == expected


def test_in_a_new_checkout_the_known_long_files_begin() -> None:
    names = ("b.py", "config/test_up.py", "browser/test_x.py", "a.py")
    assert sorted_names(*names, seconds={}) == ["config/test_up.py", "browser/test_x.py", "b.py", "a.py"]
