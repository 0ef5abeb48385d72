"""A study's report as a document: what its page shows, to be printed or kept as a file."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from annotation.core.charts import Spec
from annotation.core.numbers import counted
from correlations.documents.model import (
    Block,
    Bullets,
    Chart,
    Code,
    Document,
    Facts,
    Paragraph,
    Section,
)
from correlations.models import Study
from correlations.results.report import Report, StudyDocument
from correlations.results.study import StudyResult
from correlations.selectors import printed_tables as tables
from correlations.selectors import reports
from correlations.selectors.ceilings import ceiling_sentence, too_good_sentence
from correlations.selectors.headlines import study_headline
from correlations.selectors.level_answers import few_systems_sentence, level_answers
from correlations.selectors.levels import levels_report, levels_sentence, systems_figure
from correlations.selectors.methods import study_methods
from correlations.selectors.metrics import tokens_sentence
from correlations.selectors.stand_in_words import stand_in_finding, stand_in_paragraph
from correlations.selectors.system_ranges import ranges_blocks
from correlations.selectors.worth import ranking_sentence
from metrics.models import ScoreRun
from metrics.scoring.external import External
from metrics.selectors.copies import RULE

TEXTS = {"outputs": "Outputs", "sources": "Messages", "prompts": "Prompts", "references": "References"}
WIDTH = 470  # pixels of a chart's plot: its letters have about the size of the text once it fills a page
BESIDE = 205  # of one that stands beside another
LOW = 200  # the height of a chart that may have to begin a page, which leaves little of the page before empty
OF_LINES = 240  # of one with names of lines, which need room below each other


def printed_report(study: Study, result: StudyResult, document: StudyDocument) -> Document:
    """Return the report of a finished study, whose JSON report is ``document``."""
    best = reports.best_row(result)
    sections = (
        Section("Correlation with human ratings", _correlations(study, result, best)),
        Section("Is one metric better than another?", _comparisons(study, result)),
        Section(
            "How far do raters agree with each other?",
            (Paragraph(ceiling_sentence(result)), *filter(None, [tables.ceiling_grid(result)])),
        ),
        Section(
            "Does the metric rank systems as raters do?",
            (Paragraph(ranking_sentence(result)), tables.ranking_grid(result)),
        ),
        Section(
            "Can a metric stand in for raters?", (Paragraph(stand_in_paragraph(result)), tables.stand_in_grid(result))
        ),
        Section("By system and by output", _levels(study, result)),
        Section(reports.sweeps_title(result), tuple(_sweeps(result))),
        Section("Circularity", (Paragraph(circularity_sentence(result)),)),
        Section("Items left out", (Bullets(tuple(_left_out(result))),)),
        Section("Methods", (Paragraph(study_methods(study, result)),)),
        Section("How to compute it again", _reproduction(study, result, document)),
    )
    lead, notes = lead_and_notes(study, result)
    when = f", computed {study.finished_at:%-d %B %Y}" if study.finished_at else ""
    return Document(
        title=study.name,
        about=f"{study.project.name} · {study.dataset.name}{when}",
        lead=tuple(lead),
        notes=tuple(notes),
        numbers=tuple((card["label"], card["value"], card["hint"]) for card in reports.summary_cards(study, result)),
        sections=tuple(section for section in sections if section.blocks),
        foot=f"Assay {document.assay} · signature {study.signature[:16]}",
    )


def lead_and_notes(study: Study, result: StudyResult) -> tuple[list[str], list[str]]:
    """Return the answer in a line and what it is over, and what it has to be read with, each by itself."""
    headline, tokens = study_headline(study, result), tokens_sentence(study)
    if headline is None:
        reason = reports.few_units(result)
        few = f"There are too few units to name the best metric: {reason}."
        return [few if reason else "No coefficient of this study is defined; the table says why."], _not_empty(tokens)
    judge = stand_in_finding(result)
    in_place = f"In place of a rater: {judge[0]}" if judge else ""
    further = [
        headline.other_metrics,
        in_place,
        headline.apart,
        headline.carried,
        headline.models,
        headline.copies,
        too_good_sentence(result),
        tokens,
    ]
    return [headline.line, " ".join(_not_empty(headline.scope, headline.tuned))], _not_empty(*further)


def _not_empty(*sentences: str) -> list[str]:
    return [sentence for sentence in sentences if sentence]


def further_sentences(study: Study, result: StudyResult) -> str:
    """Return what the study's page says below the answer: other raters, how far these agree, other questions."""
    headline = study_headline(study, result)
    if headline is None:
        return ""
    return " ".join(point.text for point in headline.points)


def circularity_sentence(result: StudyResult) -> str:
    """Return how often one text, or one rater, is on both sides."""
    circular, sentences = result.circularity, []
    if not circular.reference_raters_known:
        sentences.append("The weights were imported, so whether their raters also rated the outputs is not known.")
    elif circular.raters_on_both_sides:
        sentences.append(
            f"{circular.raters_on_both_sides} of the {circular.raters} raters of the outputs also rated references; in "
            f"{circular.rater_items_on_both_sides:,} of {circular.rater_items:,} cases the same rater judged both on "
            "one item."
        )
    else:
        sentences.append("No rater of the outputs rated references, by the accounts and browsers that they used.")
    if circular.same_text_items:
        verb = "is a reference" if circular.same_text_items == 1 else "are each a reference"
        sentences.append(
            f"{counted(circular.same_text_items, 'output')} {verb} of its item, but for case, spaces and punctuation "
            f"({reports.copied_in_words(result)}): a metric without weights finds such an output perfect, whatever "
            "raters think of it."
        )
        if whole := reports.copies(result):
            sentences.append(f"{RULE} That is {' and '.join(whole)}.")
    else:
        sentences.append("No output is itself a reference.")
    return " ".join(sentences)


def _chart(result: StudyResult, name: str, caption: str) -> Chart:
    light, dark = (reports.figure(result, name, theme=theme) for theme in ("light", "dark"))
    return drawn_chart(name, caption, light, dark)


def drawn_chart(
    name: str, caption: str, light: Spec | None, dark: Spec | None, *, width: int = WIDTH, height: int = 0
) -> Chart:
    """Return a chart without its title, which the caption replaces, of its own height unless another is given."""
    size = {"width": width, **({"height": height} if height else {})}
    sides = []
    for spec in (light, dark):
        shown = {key: value for key, value in (spec or {}).items() if key != "title"}
        sides.append({**shown, **size, "config": {**shown["config"], "autosize": {"type": "pad"}}})
    return Chart(name, caption, str(sides[0].get("description", caption)), light=sides[0], dark=sides[1])


def _correlations(study: Study, result: StudyResult, best: reports.BestRow | None) -> tuple[Block, ...]:
    """Return the picture first, as the page has it, then what else there is to say, then the tables."""
    first, *others = tables.correlation_grids(result, best)
    caption = f"{result.lead.label} with the raters, by metric and references. {reports.forest_caption(result)}"
    further = further_sentences(study, result)
    said = (Paragraph(further),) if further else ()
    return _chart(result, "forest", caption), *said, first, *others


def _comparisons(study: Study, result: StudyResult) -> tuple[Block, ...]:
    grid = tables.comparison_grid(result, of_best=study.specification["compare"] == "best")
    if grid is None:
        return ()
    n = len(result.comparisons)
    different = reports.n_significant(result)
    verb = "is" if different == 1 else "are"
    sentence = (
        f"Over {reports.units_of(study)}, {different:,} of {counted(n, 'difference')} between two metrics {verb} "
        "significant after the correction."
    )
    return Paragraph(sentence), grid


def _levels(study: Study, result: StudyResult) -> tuple[Block, ...]:
    report = levels_report(result, None)
    drawn: list[Block] = []
    if report is not None and report.best is not None:
        best = report.chosen
        sides = [systems_figure(result, best.index, theme) for theme in ("light", "dark")]
        if sides[0] is not None:
            caption = f"Systems by their mean rating and their score: {', '.join(tables.names(best.row))}."
            drawn.append(drawn_chart("systems", caption, *sides, height=LOW))
    further = []
    if report is not None:
        further = [few_systems_sentence(report), level_answers(study, result, report).headline, report.equal_rows]
    sentences = " ".join(filter(None, [levels_sentence(result), *further]))
    over_systems, over_outputs = (tables.level_grids(result)[place] for place in (slice(1), slice(1, None)))
    return Paragraph(sentences), *over_systems, *ranges_blocks(result), *drawn, *over_outputs


def _sweeps(result: StudyResult) -> Iterator[Block]:
    drawn = reports.sweeps_to_draw(result)
    if drawn:
        yield Paragraph(
            f"How each metric’s correlation changes with these settings, in {counted(len(drawn), 'chart')}."
        )
    width = BESIDE if len(drawn) > 1 else WIDTH
    for name, title, references in drawn:
        light, dark = (reports.figure(result, name, theme=theme) for theme in ("light", "dark"))
        grey = reports.unnamed_lines(result, name)
        others = f" In grey: {', '.join(grey)}." if grey else ""
        caption = f"{title}: {result.lead.label}, the mean over assignments. {references}{others}"
        yield drawn_chart(name, caption, light, dark, width=width, height=OF_LINES)


def _left_out(result: StudyResult) -> Iterator[str]:
    for entry in result.items.dropped:
        yield f"{entry.count:,} of the whole study: {entry.reason}."
    if not result.items.dropped:
        yield "None of the whole study."
    for row in result.rows:
        if row.dropped.count:
            yield f"{row.dropped.count:,} of {', '.join(tables.names(row))}: {row.dropped.reason}."


def hash_entries(document: Report) -> list[tuple[str, str]]:
    """Return the hashes by which a report's study can be found and checked."""
    entries: list[tuple[str, str]] = [
        ("Signature", document.signature),
        ("Specification, SHA-256", document.hashes["specification"]),
        ("Result, SHA-256", document.hashes["result"]),
    ]
    entries += [(f"Release {release['name']}", release["content_hash"]) for release in document.releases]
    entries += [(label, document.named[name]) for name, label in TEXTS.items() if name in document.named]
    entries += [
        (f"{counted(campaign['ratings'], 'rating')} of {campaign['name']}", campaign["ratings_sha256"])
        for campaign in document.campaigns
        if "ratings_sha256" in campaign
    ]
    return entries


def reproduction(document: Report, command: str) -> tuple[Block, Block]:
    """Return how the study of a report is computed again: verified, or started by a command."""
    how = (
        "The JSON report holds this specification, all hashes and the whole result. Where the project is, or was "
        "imported from its archive, the first command computes the study again and lists what differs; the second "
        "starts it from the specification."
    )
    commands = f"manage.py study verify report.json\nmanage.py {command} specification.json --project PROJECT"
    return Paragraph(how), Code(commands)


def _reproduction(study: Study, result: StudyResult, document: StudyDocument) -> tuple[Block, ...]:
    entries = hash_entries(document)
    entries.append(("Seed of the random numbers", str(document.seed)))
    entries.append(("Versions", f"Assay {document.versions['assay']}, NumPy {document.versions['numpy']}"))
    entries += [(f"Where {label} comes from", note) for label, note in imported_notes(study, result)]
    metrics = dict.fromkeys(f"{row['metric']}: {row['signature']}" for row in document.runs)
    return (
        *reproduction(document, "study"),
        Facts(tuple(entries)),
        Paragraph("Signatures of the rows:"),
        Bullets(tuple(metrics), is_small=True),
        Paragraph("The specification:"),
        Code(by_field(document.specification), columns=2),
    )


def imported_notes(study: Study, result: StudyResult) -> list[tuple[str, str]]:
    """Return the names of imported scores with the notes of their imports, such as a judge's version and prompt."""
    numbers = [row.run for row in result.rows if row.run]
    runs = ScoreRun.objects.filter(project=study.project, number__in=numbers, metric=External.name).order_by("number")
    notes = [(run.parameters["scorer"], run.report.get("imported", {}).get("note", "")) for run in runs]
    return [(label, note) for label, note in notes if note]


def by_field(specification: Mapping[str, Any]) -> str:
    """Return a specification as JSON, a field on each line, and of a list of metrics each."""
    fields = (f"  {json.dumps(name)}: {_on_lines(value)}" for name, value in specification.items())
    return "{\n" + ",\n".join(fields) + "\n}"


def _on_lines(value: Any) -> str:
    if not isinstance(value, list) or not any(isinstance(each, dict) for each in value):
        return json.dumps(value, ensure_ascii=False)
    return "[\n" + ",\n".join(f"    {json.dumps(each, ensure_ascii=False)}" for each in value) + "\n  ]"
