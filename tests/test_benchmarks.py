import doctest

from benchmarks import __main__ as benchmarks


def test_a_section_that_is_measured_anew_takes_the_place_of_the_old_one() -> None:
    assert doctest.testmod(benchmarks) == (0, 1)


def test_the_report_is_as_the_benchmarks_would_write_it() -> None:
    report = benchmarks.REPORT.read_text(encoding="utf-8")
    assert benchmarks.with_sections(report, {}) == report
