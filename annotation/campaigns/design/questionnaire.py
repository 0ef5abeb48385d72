"""The questions that a campaign asks its raters about themselves, once.

Written as JSON::

    questions = {
        "when": "before",                             or "after" the first item
        "questions": [
            {"name": "native_language", "question": "...", "kind": "choice", "required": true, "options": [...]},
            {"name": "other_languages", "question": "...", "kind": "several", "required": false, "options": [...]},
            {"name": "profession", "question": "...", "kind": "text", "required": true, "longest": 200},
            {"name": "age", "question": "...", "kind": "number", "required": false, "low": 18, "high": null},
        ],
    }
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from annotation.campaigns.design.reading import Reader, StoredDesign, short
from annotation.campaigns.questions import ANSWER_KINDS, Question, kind_of

BEFORE, AFTER = "before", "after"
WHEN = {BEFORE: "Before the first item", AFTER: "After the first item"}
MOST_QUESTIONS = 10
LONGEST_QUESTION = 300
LONGEST_NAME = 40
NAME = re.compile(rf"[A-Za-z][A-Za-z0-9_-]{{0,{LONGEST_NAME - 1}}}")
OF_EVERY_KIND = ("name", "question", "kind", "required")


@dataclass(frozen=True)
class Questionnaire(StoredDesign):
    """The questions, and whether they come before or after the first item."""

    when: str = BEFORE
    questions: tuple[Question, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the design as it is stored."""
        if not self.questions:
            return {}
        return {"when": self.when, "questions": [question_data(question) for question in self.questions]}

    @classmethod
    def read(cls, reader: Reader, data: object) -> Self:
        given = reader.mapping(data, "", ("when", "questions"))
        when = given.get("when", BEFORE)
        if when not in WHEN:
            reader.refuse("when", f"Found {short(when)}; accepted: {', '.join(WHEN)}.")
            when = BEFORE
        entries = given.get("questions", [])
        if not isinstance(entries, list) or len(entries) > MOST_QUESTIONS:
            given_entries = len(entries) if isinstance(entries, list) else short(entries)
            reader.refuse("questions", f"Found {given_entries}; accepted: a list of up to {MOST_QUESTIONS} questions.")
            entries = []
        questions: list[Question] = []
        for number, entry in enumerate(entries, start=1):
            path = f"questions.{number}"
            question = _question(reader, entry, path)
            if question is not None and question.name in {earlier.name for earlier in questions}:
                reader.refuse(f"{path}.name", f"Found {question.name!r} twice; accepted: each name once.")
            elif question is not None:
                questions.append(question)
        return cls(when, tuple(questions))

    def facts(self) -> list[tuple[str, str]]:
        if not self.questions:
            return [("Questions to raters", "none")]
        return [("Questions to raters", WHEN[self.when].lower()), *map(_fact, self.questions)]


def question_data(question: Question) -> dict[str, Any]:
    """Return a question as JSON, with the fields that its kind uses."""
    data = {name: getattr(question, name) for name in (*OF_EVERY_KIND, *ANSWER_KINDS[question.kind].uses)}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in data.items()}


def _fact(question: Question) -> tuple[str, str]:
    optional = "" if question.required else " (optional)"
    return question.label, f"{question.question}{optional} – {kind_of(question).summary}"


def _question(reader: Reader, value: object, path: str) -> Question | None:
    """Return a question; None, with problems, without a valid kind or name."""
    kind = value.get("kind") if isinstance(value, Mapping) else None
    uses = ANSWER_KINDS[kind].uses if isinstance(kind, str) and kind in ANSWER_KINDS else None
    given = reader.mapping(value, path, None if uses is None else (*OF_EVERY_KIND, *uses))
    name, text = given.get("name", ""), reader.text(given.get("question", ""), f"{path}.question")
    if uses is None:
        reader.refuse(f"{path}.kind", f"Found {short(kind)}; accepted: {', '.join(ANSWER_KINDS)}.")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        accepted = f"up to {LONGEST_NAME} letters, digits, hyphens and underscores, the first a letter"
        reader.refuse(f"{path}.name", f"Found {short(name)}; accepted: {accepted}.")
        uses = None
    if not text.strip() or len(text) > LONGEST_QUESTION:
        reader.refuse(f"{path}.question", f"Found {short(text)}; accepted: 1 to {LONGEST_QUESTION} characters.")
    if uses is None:
        return None
    question = Question(name, text, str(kind), **_settings(reader, given, path))
    for field, problem in kind_of(question).problems():
        reader.refuse(f"{path}.{field}", problem)
    return question


def _settings(reader: Reader, given: Mapping[str, Any], path: str) -> dict[str, Any]:
    required = given.get("required", True)
    if not isinstance(required, bool):
        reader.refuse(f"{path}.required", f"Found {short(required)}; accepted: true or false.")
    settings: dict[str, Any] = {"required": required is not False}
    if "options" in given:
        settings["options"] = tuple(reader.texts(given["options"], f"{path}.options"))
    if "longest" in given:
        settings["longest"] = reader.whole(given["longest"], f"{path}.longest", 1, 10_000)
    for end in ("low", "high"):
        if given.get(end) is not None:
            settings[end] = reader.number(given[end], f"{path}.{end}")
    return settings
