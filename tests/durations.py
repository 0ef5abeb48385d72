"""Remember how long each test takes; ``--fast`` leaves out those that took long.

The shortest time of all runs counts, so that a busy machine makes no test slow. A new test of a file that has run is
run; tests of a file that never ran, as in a fresh clone, count as long if they use the database.
"""

from collections import Counter

import pytest

LONG = 0.1  # seconds, set-up and clean-up included
CACHE_KEY = "assay/durations"

_seconds: Counter[str] = Counter()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fast", action="store_true", help=f"leave out tests that took longer than {LONG} s")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("fast"):
        return
    known = _known(config)
    files = {name.split("::")[0] for name in known}

    def is_long(item: pytest.Item) -> bool:
        if item.nodeid.split("::")[0] in files:
            return known.get(item.nodeid, 0) > LONG
        return "db" in getattr(item, "fixturenames", ())

    config.hook.pytest_deselected(items=[item for item in items if is_long(item)])
    items[:] = [item for item in items if not is_long(item)]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _seconds[report.nodeid] += report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("fast") or not hasattr(session.config, "cache"):
        return
    known = _known(session.config)
    measured = {test: round(min(seconds, known.get(test, seconds)), 3) for test, seconds in _seconds.items()}
    session.config.cache.set(CACHE_KEY, known | measured)


def seconds_by_file(config: pytest.Config) -> Counter[str]:
    """Return how long the tests of each file took, without those of files that never ran."""
    seconds: Counter[str] = Counter()
    for test, duration in _known(config).items():
        seconds[test.split("::")[0]] += duration
    return seconds


def _known(config: pytest.Config) -> dict[str, float]:
    cache = getattr(config, "cache", None)
    return dict(cache.get(CACHE_KEY, {})) if cache else {}
