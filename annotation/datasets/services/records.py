"""The records of a file of any format, each with its line and its fields by their names."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

from annotation.core.file_limits import COLUMNS, NAME_CHARACTERS, UNPACKED_BYTES, WORKER, Allowance, TooLarge, check
from annotation.core.parquet_reading import ParquetRefused, column_values, parquet_batches
from annotation.core.problems import Problems
from annotation.core.progress import Beat
from annotation.core.rows import ENDINGS, Oddities, beating, check_header, read_jsonl, read_table, square

PARQUET = "parquet"
DATASET_ENDINGS = {**ENDINGS, ".parquet": PARQUET}

Records = Iterator[tuple[int, Mapping[str, Any]]]


def records_of(content: bytes, file_format: str, problems: Problems, oddities: Oddities, beat: Beat) -> Records:
    """Yield line and record: of JSON Lines and tables the line in the file, of Parquet the number of the row."""
    if file_format == "jsonl":
        yield from beating(read_jsonl(content, problems, oddities), beat)
    elif file_format == PARQUET:
        yield from beating(_parquet_records(content, problems, beat), beat)
    else:
        table = read_table(content, file_format, problems, beat)
        vars(oddities).update(vars(table.oddities))
        check_header(table, problems, required=[], known=None)
        square(table, problems)
        oddities.short_rows = table.oddities.short_rows
        for line, cells in table.each():
            yield line, dict(zip(table.header, cells, strict=True))


def _parquet_records(content: bytes, problems: Problems, beat: Beat) -> Records:
    number = 0
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.flush()
        file.seek(0)
        try:
            columns, batches = parquet_batches(file, None, beat=beat, allowance=Allowance(UNPACKED_BYTES))
            with closing(batches):
                names = [column.name for column in columns]
                check("columns", len(names), COLUMNS)
                check("name of a column", max(map(len, names), default=0), NAME_CHARACTERS, " characters")
                for name in {name for name in names if names.count(name) > 1}:
                    problems.add(None, name, f"{names.count(name)} columns of this name", "each column once")
                problems.refuse()
                for batch in batches:
                    for values in zip(*(column_values(batch.column(name)) for name in names), strict=True):
                        number += 1
                        problems.check_limit(number, "rows", number, WORKER.rows)
                        yield number, dict(zip(names, values, strict=True))
        except TooLarge as limit:
            problems.add(number + 1, limit.field, limit.found, limit.accepted)
        except ParquetRefused as error:
            problems.add(number + 1, "file", str(error), "a Parquet file")
    problems.refuse()
