"""The README of a record: content and unit of each file and column."""

from collections.abc import Sequence

from annotation.records.selectors.tables import ALL, Table

KINDS = {
    "text": "text",
    "whole": "whole number",
    "number": "number",
    "truth": "true or false",
    "time": "time, UTC",
    "json": "JSON",
    "texts": "list of texts",
    "wholes": "list of whole numbers",
}
ENDINGS = {
    "jsonl": "`.jsonl`: JSON Lines, one object a row, times in ISO 8601, undefined values `null`",
    "parquet": "`.parquet`: the same rows with typed columns; columns of JSON hold its text",
}
HEAD = """\
# Complete record of a campaign

Written by Assay. All files describe one moment, `taken_at` in `manifest.json`.

- `manifest.json`: the campaign, the hashes, and for each other file its SHA-256, bytes and rows. `content_hash` covers
  the whole record: cite it.
- `design.json`: the design as it was frozen at launch, as the exact bytes whose SHA-256 is `design_hash`.
- `methods.md`, `heds.md`, `heds.json`: documents for a paper, if requested.
- The tables below. {endings}.

Raters appear under pseudonyms. A rater who typed a name appears as `named-<number>`. Names that raters typed,
providers' ids and access tokens are in no column. What people wrote, the texts of `comments` and the reasons of
`decisions`, is as they wrote it and may hold names: read it before you publish it. `rater_answers` is personal data:
leave it out of what you publish unless raters agreed to that. For imported ratings,
`design.json` names the account that imported them.

Nothing was left out: returned and expired items, corrections, late answers and excluded raters are included. For each
presentation, response, criterion and `turn`, the rating with the highest `revision` that is not `extra` counts, unless
its rater is excluded (`excluded_at` in `raters`).

To check a record: `python manage.py export_log --verify RECORD.zip`.
"""


def readme(formats: Sequence[str]) -> str:
    head = HEAD.format(endings="; ".join(ENDINGS[ending] for ending in formats))
    return head + "".join(_table(table) for table in ALL)


def _table(table: Table) -> str:
    rows = "".join(f"| `{each.name}` | {KINDS[each.kind]} | {each.meaning} |\n" for each in table.columns)
    return f"\n## {table.name}\n\n{table.meaning}\n\n| Column | Type | Meaning |\n| --- | --- | --- |\n{rows}"
