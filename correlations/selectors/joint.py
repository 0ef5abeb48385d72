"""Studies over several data sets: how far their studies are, and what these say together."""

import json
from collections.abc import Sequence
from dataclasses import replace

from django.db.models import Count, Prefetch, QuerySet

from annotation.core.charts import THEMES
from annotation.core.numbers import counted, decimals
from annotation.models import CampaignState, Dataset, JobState, Project
from correlations.documents.model import Block, Chart, Code, Column, Document, Facts, Grid, Paragraph, Section
from correlations.models import JointStudy, Study
from correlations.results.report import JointDocument
from correlations.selectors import compared_words as words
from correlations.selectors.compared import Compared, Line, compared_studies
from correlations.selectors.documents import study_document
from correlations.stats.intervals import Interval
from metrics.scoring import VERSION

MOST_COLUMNS = 3  # of data sets, in a printed table
STARTED = [state for state in CampaignState if state != CampaignState.DRAFT]


def joint_studies(project: Project) -> QuerySet[JointStudy]:
    """Return a project's studies over several data sets, newest first."""
    studies = Study.objects.select_related("dataset").defer("result", "specification")
    return JointStudy.objects.filter(project=project).prefetch_related(Prefetch("studies", studies)).order_by("-pk")


def datasets_to_study(project: Project) -> list[Dataset]:
    """Return the data sets with two systems or more and a started campaign, by name."""
    rated = Dataset.objects.filter(project=project, campaigns__state__in=STARTED).distinct()
    return list(rated.annotate(n_systems=Count("systems", distinct=True)).filter(n_systems__gte=2).order_by("name"))


def members(joint: JointStudy) -> list[Study]:
    """Return the studies of the data sets, by the names of these."""
    studies = joint.studies.select_related("dataset", "release__reference_set")
    return sorted(studies, key=lambda study: (study.dataset.name, study.pk))


def joint_state(studies: Sequence[Study]) -> str:
    """Return the state of the whole: failed or cancelled if one is, and done once all are."""
    states = {study.state for study in studies}
    for state in (JobState.FAILED, JobState.CANCELLED, JobState.RUNNING, JobState.QUEUED):
        if state in states:
            return state
    return JobState.DONE


def joint_comparison(joint: JointStudy, coefficient: str | None = None) -> Compared | None:
    """Return what the studies say together; None unless two or more are done, or if they lack the coefficient."""
    studies = members(joint)
    if len(studies) < 2 or joint_state(studies) != JobState.DONE:
        return None
    compared = compared_studies(studies, coefficient)
    return compared and replace(compared, by_dataset=True)


def joint_document(joint: JointStudy, compared: Compared) -> JointDocument:
    """Return the report as a document: the request, all that the page says, and the report of each study."""
    return JointDocument(
        assay=VERSION,
        project={"name": joint.project.name, "slug": joint.project.slug},
        name=joint.name,
        signature=joint.signature,
        specification=joint.specification,
        result=words.plain(compared),
        reports=[study_document(study, study.read_result()) for study in compared.studies],
    )


def printed_joint_report(joint: JointStudy, compared: Compared) -> Document:
    """Return the report as a document, to be printed or kept as a file."""
    ended = [study.finished_at for study in compared.studies if study.finished_at]
    when = f", computed {max(ended):%-d %B %Y}" if ended else ""
    light, dark = (words.figure(compared, theme=theme) for theme in THEMES)
    caption = f"{compared.coefficient.label} by data set. Line: 95% interval over items."
    charts: list[Block] = []
    if light is not None and dark is not None:
        charts.append(Chart("by-data-set", caption, str(light.get("description", caption)), light, dark))
    notes = tuple(filter(None, (words.rank_note(compared), words.assumption(compared))))
    settings = [(setting.name, " / ".join(setting.values)) for setting in compared.settings if setting.differs]
    of_studies = [(f"{study.dataset}: {study.name}", study.signature) for study in compared.studies]
    return Document(
        title=joint.name,
        about=f"{joint.project.name} · {counted(len(compared.studies), 'data set')}{when}",
        lead=(words.lead_sentences(compared),),
        numbers=tuple(
            (study.dataset.name, f"{result.items.used:,}", f"items, {counted(result.counts.judgements, 'judgement')}")
            for study, result in zip(compared.studies, compared.results, strict=True)
        ),
        sections=(
            Section("Row by row", (*charts, _grid(compared, notes))),
            Section("What differs between the data sets", (Facts(tuple(settings)),)),
            Section(
                "How to compute it again",
                (
                    Paragraph("The specification; the signature of each study; each study has a report of its own."),
                    Code(json.dumps(joint.specification, ensure_ascii=False, indent=1)),
                    Facts((("Signature", joint.signature), *of_studies)),
                ),
            ),
        ),
        foot=f"Assay {VERSION} · signature {joint.signature[:16]}",
    )


def _grid(compared: Compared, notes: tuple[str, ...]) -> Grid:
    """Return a column for each data set, or a row if there are more than fit beside each other on a page."""
    if len(compared.studies) > MOST_COLUMNS:
        return _long_grid(compared, notes)
    names = [study.dataset.name for study in compared.studies]
    columns = [Column("Metric"), Column("References"), *(Column(name, is_number=True) for name in names)]
    columns += [Column("Pooled", is_number=True)] if compared.pools else []
    columns += [Column("Average rank", is_number=True)] if compared.ranked else []
    caption = f"{compared.coefficient.label} with 95% intervals over items, by data set."
    rows = tuple(_row(compared, line) for line in compared.shared)
    return Grid("by-data-set", caption, tuple(columns), rows, notes)


def _long_grid(compared: Compared, notes: tuple[str, ...]) -> Grid:
    columns = (Column("Metric"), Column("References"), Column("Data set"), Column("Value", is_number=True))
    names = [study.dataset.name for study in compared.studies]
    names += [words.POOLED] if compared.pools else []
    names += ["Average rank"] if compared.ranked else []
    rows: list[tuple[str, ...]] = []
    for line in compared.shared:
        label, references, *cells = _row(compared, line)
        rows += [(label, references, name, cell) for name, cell in zip(names, cells, strict=True)]
    caption = f"{compared.coefficient.label} with 95% intervals over items, by data set"
    caption += ", and the average rank among the rows." if compared.ranked else "."
    return Grid("by-data-set", caption, columns, tuple(rows), notes)


def _row(compared: Compared, line: Line) -> tuple[str, ...]:
    cells = [_estimate(cell.value, cell.interval) if cell else "–" for cell in line.cells]
    if compared.pools:
        cells.append("–" if line.pooled is None else _estimate(line.pooled.value, line.pooled.interval))
    if compared.ranked:
        rank = compared.ranked.of(line)
        cells.append("–" if rank is None else decimals(rank[0], 1))
    return (line.label, line.references, *cells)


def _estimate(value: float | None, interval: Interval) -> str:
    if value is None or value != value:
        return "–"
    if interval.low != interval.low:
        return decimals(value, 3)
    return f"{decimals(value, 3)} [{decimals(interval.low, 3)}, {decimals(interval.high, 3)}]"
