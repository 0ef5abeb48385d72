"""Ratings exported from Label Studio as JSON: tasks with their annotations.

By its guide (labelstud.io/guide/task_format, the export called JSON), an annotation is a person's answer to a task;
``completed_by`` is the person, ``was_cancelled`` says that the task was skipped, ``lead_time`` is in seconds, and
``result`` holds an entry for each control (``from_name``) of type rating, number or choices, among others.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from annotation.core import file_limits
from annotation.core.problems import Problems, listed
from annotation.core.progress import Beat
from annotation.core.rows import Oddities, beating, decode, json_document
from annotation.judgements.services.content import Cells, RatingContent, number_in
from annotation.judgements.services.options import RatingOptions

BETWEEN = {mark: re.compile(rf"\s*{re.escape(mark)}?\s*") for mark in "[,"}
TYPES = ("rating", "number", "choices")
TASK_ID = "task id"
NAMES = ("item", "system", "text")
USUAL = {
    "item": ("item", "item_id", "itemid", "external_id", "instance", "instance_id"),
    "system": ("system", "system_id", "systemid", "model"),
    "text": ("text", "response", "output", "answer", "hypothesis"),
}


class Annotation(NamedTuple):
    number: int  # of the task in the file, from 1
    path: str
    data: Mapping[str, Any]
    record: Mapping[str, Any]


def read_tasks(content: bytes, problems: Problems, oddities: Oddities) -> list[dict[str, Any]]:
    """Return the tasks of the file; refuse a file that is not such an export."""
    problems.check_limit(None, "size", len(content), file_limits.DOCUMENT_BYTES, " bytes")
    document = json_document(decode(content, problems, oddities), problems)
    tasks = [document] if isinstance(document, dict) else document
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        problems.add(None, "file", type(document).__name__, "a list of tasks: Label Studio's export called JSON")
    else:
        for number, task in enumerate(tasks, start=1):
            if not isinstance(task.get("data"), dict) or _annotations(task) is None:
                accepted = "data and annotations: Label Studio's export called JSON (not JSON-MIN)"
                problems.add(None, f"task {task.get('id', number)}", listed(task) or "an empty object", accepted)
                break
    problems.refuse()
    return tasks


def first_tasks(content: bytes) -> bytes:
    """Return the file, or one of the tasks at its beginning if it is too large for a page."""
    if len(content) <= file_limits.PAGE_BYTES:
        return content
    text = content[: file_limits.PAGE_BYTES].decode(errors="ignore").lstrip("\ufeff")
    decoder, tasks = json.JSONDecoder(), list[str]()
    at = _after(text, 0, "[")
    while at < len(text):
        try:
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        tasks.append(text[at:end])
        at = _after(text, end, ",")
    return f"[{','.join(tasks)}]".encode(errors="replace") if tasks else content[: file_limits.PAGE_BYTES]


def _after(text: str, start: int, mark: str) -> int:
    """Return the position of the first character that is neither a space nor, once, the mark."""
    between = BETWEEN[mark].match(text, start)
    return between.end() if between else start


def _annotations(task: Mapping[str, Any]) -> list[Any] | None:
    annotations = task.get("annotations", task.get("completions"))  # the latter before version 1.0
    return annotations if isinstance(annotations, list) else None


def data_fields(tasks: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for task in tasks for name in task["data"]))


def usual_columns(fields: list[str], columns: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of the tasks' data for item, system and text: the given ones, or those with usual names."""
    chosen = {name: theirs for name, theirs in columns.items() if name in NAMES}
    by_name = {name.lower(): name for name in fields}
    for name in NAMES:
        usual = next((by_name[alias] for alias in USUAL[name] if alias in by_name), None)
        if usual is not None:
            chosen.setdefault(name, usual)
    return chosen


def label_studio_rows(
    content: bytes, options: RatingOptions, problems: Problems, beat: Beat
) -> tuple[RatingContent, list[Cells]]:
    oddities = Oddities()
    tasks = read_tasks(content, problems, oddities)
    names = data_fields(tasks)
    columns = usual_columns(names, options.columns)
    read = RatingContent([], rows=len(tasks), oddities=oddities)
    _check_columns(columns, names, problems)
    annotations = list(_answers(beating(enumerate(tasks, start=1), beat), read, problems))
    read.criteria = options.criteria or _criteria(annotations, options)
    if annotations and not read.criteria:
        problems.add(None, "criteria", listed(_controls(annotations)) or "none", "a control of type rating or number")
    rows = []
    for annotation in annotations:
        values = _values(annotation, read, options, problems)
        if not values:
            read.left_out["annotations_without_rating"] += 1
            continue
        fields = {name: _text(annotation.data.get(column)) for name, column in columns.items()}
        record = annotation.record
        fields |= {"rater": _person(record.get("completed_by")), "time": str(record.get("created_at") or "")}
        fields["seconds"] = "" if record.get("lead_time") is None else str(record["lead_time"])
        values = {name: values.get(name) for name in read.criteria}
        rows.append(Cells(annotation.number, fields, values, optional=True, path=annotation.path))
    return read, rows


def _check_columns(columns: Mapping[str, str], fields: list[str], problems: Problems) -> None:
    accepted = listed([TASK_ID, *fields])
    for name, theirs in columns.items():
        if theirs not in fields and theirs != TASK_ID:
            problems.add(None, f"columns: {name}", theirs, f"a field of the tasks' data: {accepted}")
    if "item" not in columns:
        problems.add(None, "columns: item", "no such field", f"the field that holds the item's id: {accepted}")
    if not {"system", "text"} & set(columns):
        problems.add(None, "columns: system", "no such field", f"the field of the system or of the text: {accepted}")
    problems.refuse()


def _answers(
    tasks: Iterator[tuple[int, dict[str, Any]]], read: RatingContent, problems: Problems
) -> Iterator[Annotation]:
    for number, task in tasks:
        data = {**task["data"], TASK_ID: task.get("id", number)}
        for record in _annotations(task) or []:
            annotation_id = record.get("id") if isinstance(record, dict) else record
            path = f"task {task.get('id', number)}, annotation {annotation_id}"
            if not isinstance(record, dict) or not isinstance(record.get("result"), list):
                problems.add(None, f"{path}, result", type(record).__name__, "an annotation with a list of results")
            elif record.get("was_cancelled") or record.get("skipped"):
                read.left_out["cancelled_annotations"] += 1
            else:
                read.left_out["ground_truth_annotations"] += bool(record.get("ground_truth"))
                yield Annotation(number, path, data, record)


def _results(annotation: Annotation) -> Iterator[Mapping[str, Any]]:
    for result in annotation.record["result"]:
        if isinstance(result, dict) and result.get("type") in TYPES and isinstance(result.get("value"), dict):
            yield result


def _controls(annotations: list[Annotation]) -> list[str]:
    return list(dict.fromkeys(str(result.get("from_name")) for entry in annotations for result in _results(entry)))


def _criteria(annotations: list[Annotation], options: RatingOptions) -> list[str]:
    """Return the controls of ratings and numbers, and of choices if every chosen label has a number."""
    holds: dict[str, bool] = {}
    for annotation in annotations:
        for result in _results(annotation):
            name = str(result.get("from_name"))
            value = _value(result, options)
            numeric = result["type"] != "choices" or number_in(value) == number_in(value)
            holds[name] = holds.get(name, True) and numeric
    return [name for name, numeric in holds.items() if numeric]


def _value(result: Mapping[str, Any], options: RatingOptions) -> Any:
    """Return a number; for a choice the number in the options, or the one that its label begins with."""
    value = result["value"].get(result["type"])
    if result["type"] != "choices":
        return value
    if not isinstance(value, list) or len(value) != 1:
        return value
    label = str(value[0]).strip()
    if label in options.choices:
        return options.choices[label]
    leading = re.match(r"[-+]?\d+(?:\.\d+)?(?![\w.])", label)
    return leading.group() if leading else label


def _values(annotation: Annotation, read: RatingContent, options: RatingOptions, problems: Problems) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for result in annotation.record["result"]:
        name = str(result.get("from_name")) if isinstance(result, dict) else ""
        if name not in read.criteria:
            read.left_out["results_left_out"] += 1
        elif name in values:
            problems.add(None, f"{annotation.path}, {name}", "a second value", "one value for each control")
        elif result.get("type") not in TYPES or not isinstance(result.get("value"), dict):
            problems.add(None, f"{annotation.path}, {name}", result.get("type"), f"one of {', '.join(TYPES)}")
        else:
            value = _value(result, options)
            values[name] = "nothing" if value is None else value
    return values


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _person(completed_by: Any) -> str:
    """Return a person's address or number."""
    if isinstance(completed_by, dict):
        completed_by = completed_by.get("email") or completed_by.get("id")
    return "" if completed_by is None else str(completed_by)
