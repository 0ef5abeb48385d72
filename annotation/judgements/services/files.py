"""Files of judgements in any of their shapes, read and checked as far as the file alone allows."""

from collections.abc import Iterable

from django.utils.text import slugify

from annotation.core.file_limits import WORKER, TableLimits
from annotation.core.problems import Problems
from annotation.core.progress import Beat, noop
from annotation.core.rows import beating, read_table
from annotation.judgements.services import options as shapes
from annotation.judgements.services.appraise import appraise_rows
from annotation.judgements.services.content import Cells, RatingContent, add_judgements, check_criteria
from annotation.judgements.services.label_studio import label_studio_rows
from annotation.judgements.services.log import log_jsonl_rows, log_table_rows
from annotation.judgements.services.options import RatingOptions
from annotation.judgements.services.recognition import recognised
from annotation.judgements.services.rows import jsonl_rows, table_rows
from annotation.judgements.services.wide import aggregate_rows, rater_rows

READERS = {
    shapes.ROWS: table_rows,
    shapes.RATERS: rater_rows,
    shapes.AGGREGATE: aggregate_rows,
    shapes.APPRAISE: appraise_rows,
    shapes.ASSAY: log_table_rows,
}


def read_ratings(
    content: bytes,
    *,
    filename: str,
    file_format: str,
    options: RatingOptions,
    beat: Beat = noop,
    collect: Problems | None = None,
    accepted: TableLimits = WORKER,
) -> RatingContent:
    """Return every judgement of the file. Row errors are raised, or added to ``collect`` for the caller."""
    problems = Problems(filename) if collect is None else collect
    if not options.shape:
        options = recognised(content, file_format=file_format, options=options)
    read, rows = _rows(content, file_format, options, problems, beat, accepted)
    read.options = options
    check_criteria(read.criteria, problems)
    names = [slugify(name)[:60] for name in read.criteria]
    for name, slug in zip(read.criteria, names, strict=True):
        if not slug or names.count(slug) > 1:
            problems.add(None, name, name, "criteria whose names differ in their letters and digits")
    for name in options.scales:
        if name not in read.criteria:
            problems.add(None, "scales", name, f"a criterion of the file: {', '.join(read.criteria)}")
    add_judgements(beating(rows, beat), read, problems)
    if not problems.total and not read.judgements:
        problems.add(None, "judgements", "none", "at least one judgement")
    if collect is None:
        problems.refuse()
    return read


def _rows(
    content: bytes, file_format: str, options: RatingOptions, problems: Problems, beat: Beat, accepted: TableLimits
) -> tuple[RatingContent, Iterable[Cells]]:
    shape = options.shape
    label, formats = shapes.SHAPES[shape].label, shapes.SHAPES[shape].formats
    if file_format not in formats:
        problems.add(None, "format", file_format, f"{', '.join(formats)} for {label!r}")
        problems.refuse()
    if shape == shapes.LABEL_STUDIO:
        return label_studio_rows(content, options, problems, beat)
    if file_format == "jsonl":
        return (jsonl_rows if shape == shapes.ROWS else log_jsonl_rows)(content, options, problems, beat)
    return READERS[shape](read_table(content, file_format, problems, beat, accepted), options, problems)
