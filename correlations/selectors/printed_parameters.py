"""A parameter study's report as a document, to be printed or kept as a file."""

from collections.abc import Iterator

from annotation.core.charts import THEMES
from annotation.core.numbers import counted
from correlations.documents.model import Block, Bullets, Chart, Code, Column, Document, Facts, Grid, Paragraph, Section
from correlations.models import ParameterStudy
from correlations.results.parameters import ParameterResult
from correlations.selectors.documents import parameter_document
from correlations.selectors.methods import parameter_study_methods
from correlations.selectors.parameter_reports import (
    FEW_SYSTEMS,
    LEVELS,
    SweepReport,
    figure,
    metric_label,
    summary_cards,
    values_in_use,
)
from correlations.selectors.printed import BESIDE, by_field, drawn_chart, hash_entries, reproduction
from correlations.selectors.printed_tables import interval, number, p_value
from correlations.selectors.tuned import MARK
from metrics.scoring import VERSION

OVERFITS = (
    "The best of many values on these items is better on these items than anywhere else; below stands what the choice "
    "is worth on items that it was not made on. The systems are the same on both sides, so a value chosen on them may "
    "not suit others."
)
FLAT = 150  # pixels of a chart's height, so that the first parameter's table stays on the first page


def printed_parameter_report(study: ParameterStudy, result: ParameterResult) -> Document:
    """Return the report of a finished parameter study."""
    sweeps = [SweepReport(sweep, result) for sweep in result.sweeps]
    when = f", computed {study.finished_at:%-d %B %Y}" if study.finished_at else ""
    label = metric_label(study)
    in_use = tuple((name, str(value)) for name, value in values_in_use(study))
    models = tuple((model.label, model.name or model.reference) for model in result.models)
    left_out = tuple(f"{counted(entry.count, 'item')}: {entry.reason}." for entry in result.items.dropped)
    sections = (
        *(Section(report.sweep.label, tuple(_of_sweep(report))) for report in sweeps),
        Section("Values in use", (Facts((("Metric", label), *in_use, *models)),)),
        Section("Items left out", (Bullets(left_out or ("None.",)),)),
        Section("Methods", (Paragraph(parameter_study_methods(study, result, metric_label=label)),)),
        Section("How to compute it again", _reproduction(study, result)),
    )
    warnings = [OVERFITS]
    if len(study.specification["systems"]) < FEW_SYSTEMS:
        warnings.append(f"{counted(len(study.specification['systems']), 'system')} are few: each moves a coefficient.")
    return Document(
        title=study.name,
        about=f"{study.project.name} · {study.dataset.name} · {label}{when}",
        lead=tuple(report.lead for report in sweeps),
        notes=tuple(warnings),
        numbers=tuple((card["label"], card["value"], card["hint"]) for card in summary_cards(study, result)),
        sections=sections,
        foot=f"Assay {VERSION} · signature {study.signature[:16]}",
    )


def _of_sweep(report: SweepReport) -> Iterator[Block]:
    for sentence in filter(None, (report.chosen_sentence, report.halves_sentence, report.splits_sentence)):
        yield Paragraph(sentence)
    yield from _charts(report)
    yield _values(report)
    if report.without_rows:
        if report.driver is not None:
            was, then = number(report.own_value), number(report.driver.chosen)
            sentence = f"Without {report.driver.system} the coefficient at the value in use is {then} instead of {was}."
            yield Paragraph(sentence)
        yield _without(report)


def _charts(report: SweepReport) -> Iterator[Chart]:
    for level, title in LEVELS.items():
        name = f"{report.sweep.parameter}-{level}"
        light, dark = (figure(report.result, name, theme=theme) for theme in THEMES)
        caption = f"{report.sweep.label}, {title.lower()}."
        if not report.sweep.no_interval:
            caption += " Band: the middle 95% of resamples of the items, for Pearson’s r."
        yield drawn_chart(_plain_name(name), caption, light, dark, width=BESIDE, height=FLAT)


def _values(report: SweepReport) -> Grid:
    sweep, result = report.sweep, report.result
    symbols = [entry.symbol for entry in report.others]
    labels = ["r", "range", "p", *symbols, "r, outputs", *(f"{symbol}, outputs" for symbol in symbols)]
    rows = []
    for row in report.rows:
        marks = [mark for mark, is_it in (("in use", row.is_own), ("best", row.is_best)) if is_it]
        name = f"{row.point.shown} ({', '.join(marks)})" if marks else row.point.shown
        ngrams = [f"{row.point.ngrams.of_order:,}"] if row.point.ngrams else []
        (_, over_systems, r, others), (_, _, of_outputs, others_of_outputs) = row.levels
        systems = (
            number(r.value),
            interval(r.interval),
            p_value(over_systems.p),
            *(number(value) for _, value in others),
        )
        outputs = (number(of_outputs.value), *(number(value) for _, value in others_of_outputs))
        rows.append((name, *ngrams, *systems, *outputs))
    columns = [Column(sweep.label), *([Column("n-grams", is_number=True)] if report.has_ngrams else [])]
    caption = (
        f"Agreement along {sweep.label}, over {counted(len(sweep.systems), 'system')} and over "
        f"{counted(sweep.in_use.segment.n, 'rated output')}. Range: the middle 95% of resamples of whole items. Best: "
        f"by {result.deciding.label} over systems, {MARK}."
    )
    reasons = dict.fromkeys(point.system.reason for point in sweep.points if point.system.reason)
    notes = [f"Undefined over systems: {reason}." for reason in reasons]
    if sweep.no_interval:
        notes.append(f"No ranges: {sweep.no_interval}.")
    return Grid(
        f"values-{_plain_name(sweep.parameter)}",
        caption,
        (*columns, *(Column(label, is_number=True) for label in labels)),
        tuple(rows),
        tuple(notes),
        sweep.best,
    )


def _without(report: SweepReport) -> Grid:
    sweep, symbol = report.sweep, report.result.deciding.symbol
    at_best = sweep.best_point.shown if sweep.best_point else "–"
    labels = (f"{symbol} at {sweep.in_use.shown}, in use", f"at {at_best}, best of all", "best value then", symbol)
    rows = tuple(
        (each.system, number(each.chosen), number(each.best), best or "–", number(each.best_then_value))
        for each, best in report.without_rows
    )
    caption = f"{report.result.deciding.label} over systems with each system left out in turn, along {sweep.label}."
    columns = (Column("Left out"), *(Column(label, is_number=True) for label in labels))
    return Grid(f"without-{_plain_name(sweep.parameter)}", caption, columns, rows)


def _reproduction(study: ParameterStudy, result: ParameterResult) -> tuple[Block, ...]:
    document = parameter_document(study, result)
    versions = ("Versions", f"Assay {result.versions.assay}, NumPy {result.versions.numpy}")
    facts = Facts((*hash_entries(document), versions))
    return *reproduction(document, "parameter_study"), facts, Code(by_field(document.specification))


def _plain_name(name: str) -> str:
    """Return a name that files and LaTeX labels can have."""
    return name.replace("_", "-")
