import doctest

from benchmarks import __main__ as benchmarks


def test_a_new_section_replaces_the_old_one() -> None:
    assert doctest.testmod(benchmarks) == (0, 2)


def test_the_report_has_the_format_of_the_benchmarks() -> None:
    report = benchmarks.REPORT.read_text(encoding="utf-8")
    assert benchmarks.with_sections(report, {}) == report
