"""A campaign's datasheet: answers from the record, answers from its manager, and open questions."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from annotation.core.errors import AnnotationError
from annotation.core.markdown import plain
from annotation.core.one_line import one_line
from annotation.models import Campaign, Datasheet, User
from annotation.projects.services.audit import audit_record
from annotation.projects.services.editing import changed_since, overtaken_check, version_of
from annotation.records.selectors.facts import Facts
from annotation.records.services.heds import BY_NUMBER, FORM_URL, QUESTIONS, REFERENCE, SECTIONS, Question
from annotation.records.services.heds_record import Recorded, key_of, recorded_answers

LONGEST = 5_000
VERSION = "HEDS 3.0"


@dataclass(frozen=True)
class ManagerAnswer:
    """A manager's answer."""

    text: str = ""
    choices: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.text or self.choices)


@dataclass(frozen=True)
class Entry:
    """One question with its answers; ``criterion`` is empty but in section 4."""

    question: Question
    criterion: str
    recorded: Recorded | None
    given: ManagerAnswer

    @property
    def key(self) -> str:
        return key_of(self.question.number, self.criterion)

    @property
    def is_final(self) -> bool:
        """Return whether the record answers the question completely."""
        return self.recorded is not None and self.recorded.final

    @property
    def is_answered(self) -> bool:
        """Return whether there is an answer; a question with options needs one of them."""
        if self.is_final or self.given.choices:
            return True
        if self.question.options:
            return self.recorded is not None and bool(self.recorded.choices)
        return bool(self.given.text) or (self.recorded is not None and bool(self.recorded.text))

    @property
    def recorded_options(self) -> list[str]:
        return [self._option(number) for number in self.recorded.choices] if self.recorded else []

    @property
    def chosen(self) -> list[str]:
        """Return the options chosen by the record or the manager, each after its number."""
        by_record = self.recorded.choices if self.recorded else ()
        both = {*by_record, *self.given.choices} if self.question.kind == "many" else self.given.choices or by_record
        return [self._option(number) for number in sorted(both)]

    def _option(self, number: int) -> str:
        return f"{number}. {self.question.options[number - 1]}"


@dataclass(frozen=True)
class Sheet:
    facts: Facts
    entries: list[Entry]

    @property
    def n_answered(self) -> int:
        return _answered(self.entries)

    @property
    def n_from_record(self) -> int:
        return sum(entry.is_final for entry in self.entries)

    @property
    def sections(self) -> list[tuple[str, str, list[Entry], int]]:
        """Return (anchor, title, entries, number of those answered); section 4 once per criterion."""
        sections: dict[tuple[str, str], list[Entry]] = {}
        for entry in self.entries:
            sections.setdefault((entry.question.section, entry.criterion), []).append(entry)
        return [
            (
                f"{number}-{name}" if name else number,
                f"{SECTIONS[number]}{f': {name}' if name else ''}",
                entries,
                _answered(entries),
            )
            for (number, name), entries in sections.items()
        ]


def _answered(entries: list[Entry]) -> int:
    return sum(entry.is_answered for entry in entries)


def sheet_of(facts: Facts) -> Sheet:
    stored = Datasheet.objects.filter(campaign=facts.campaign).first()
    answers: Mapping[str, Any] = stored.answers if stored else {}
    recorded = recorded_answers(facts)
    criteria = [each.criterion.name for each in facts.criteria]
    questions = [("", question) for question in QUESTIONS if question.section < "4"]
    questions += [(name, question) for name in criteria for question in QUESTIONS if question.per_criterion]
    questions += [("", question) for question in QUESTIONS if question.section > "4"]
    entries = []
    for criterion, question in questions:
        key = key_of(question.number, criterion)
        answer = answers.get(key, {})
        given = ManagerAnswer(answer.get("text", ""), tuple(answer.get("choices", ())))
        entries.append(Entry(question, criterion, recorded.get(key), given))
    return Sheet(facts, entries)


def with_answers(sheet: Sheet, answers: Mapping[str, ManagerAnswer]) -> Sheet:
    """Return the sheet with other answers from the manager, stored or not."""
    return Sheet(sheet.facts, [replace(entry, given=answers.get(entry.key, entry.given)) for entry in sheet.entries])


def sheet_version(sheet: Sheet) -> str:
    """Return the version of the answers that the form of a sheet shows."""
    return version_of({entry.key: stored_answer(entry.given) for entry in sheet.entries if not entry.is_final})


def stored_answer(answer: ManagerAnswer) -> dict[str, Any] | None:
    return {"text": answer.text.strip(), "choices": sorted(answer.choices)} if answer else None


@transaction.atomic
def datasheet_update(
    *, campaign: Campaign, answers: Mapping[str, ManagerAnswer], seen: str = "", by: User | None = None
) -> Datasheet:
    """Store the manager's answers by their keys, all or none; an empty answer deletes the stored answer.

    With ``seen``, the ``sheet_version`` that the user saw, no answer given since is overwritten.
    """
    problems: dict[str, list[str]] = {}
    criteria = set(campaign.criteria.values_list("name", flat=True))
    for key, answer in answers.items():
        if problem := _problem(key, answer, criteria):
            problems[key] = [problem]
    if problems:
        raise AnnotationError(" ".join(f"{key}: {each[0]}" for key, each in problems.items()), fields=problems)
    sheet, _ = Datasheet.objects.select_for_update().get_or_create(campaign=campaign)
    before = dict(sheet.answers)
    given = changed_since({key: stored_answer(answer) for key, answer in answers.items()}, seen)
    stored = {key: before.get(key) for key in answers}
    changes = campaign.audit_entries.filter(verb="datasheet.update")
    overtaken_check(stored=stored, new=given, seen=seen, changes=changes, by=by)
    for key, value in given.items():
        sheet.answers.pop(key, None)
        if value:
            sheet.answers[key] = value
    changed = sorted(key for key in before.keys() | sheet.answers.keys() if before.get(key) != sheet.answers.get(key))
    if changed:
        sheet.updated_by, sheet.updated_at = by, Now()
        sheet.save()
        summary = f"Answered in the datasheet: {', '.join(changed)}."
        audit_record(verb="datasheet.update", summary=summary, campaign=campaign, by=by, data={"questions": changed})
    return sheet


def _problem(key: str, answer: ManagerAnswer, criteria: set[str]) -> str:
    number, _, criterion = key.partition(":")
    question = BY_NUMBER.get(number)
    if question is None or (criterion not in criteria if question.per_criterion else criterion):
        return "Not a question of this datasheet."
    if len(answer.text) > LONGEST:
        return f"Found {len(answer.text):,} characters; accepted: up to {LONGEST:,}."
    if "\x00" in answer.text:
        return "Found a NUL character; accepted: any other."
    wrong = [option for option in answer.choices if not 1 <= option <= len(question.options)]
    if wrong:
        return f"Found option {wrong[0]}; accepted: 1 to {len(question.options)}."
    if len(answer.choices) > 1 and question.kind != "many":
        return f"Found {len(answer.choices)} options; accepted: one."
    return ""


def sheet_markdown(sheet: Sheet) -> str:
    campaign = sheet.facts.campaign
    about = (
        f"{VERSION} ({REFERENCE} Form: {FORM_URL}), questions shortened by Assay. Answers marked *record* were "
        f"written by Assay {settings.VERSION} from the campaign's record."
    )
    lines = [f"# Human evaluation datasheet: {plain(one_line(campaign.name))}", "", about]
    for _, title, entries, _ in sheet.sections:
        lines += ["", f"## {entries[0].question.section}. {title}"]
        for entry in entries:
            lines += ["", f"**{entry.question.number} {entry.question.asks}**", "", *_answer_lines(entry)]
    return "\n".join(lines) + "\n"


def _answer_lines(entry: Entry) -> list[str]:
    lines = [f"- {option}" for option in entry.chosen]
    if entry.recorded and entry.recorded.text:
        lines += ([""] if lines else []) + [f"*record:* {plain(entry.recorded.text)}"]
    if entry.given.text:
        lines += ([""] if lines else []) + [plain(entry.given.text)]
    return lines if entry.is_answered else [*lines, *([""] if lines else []), "*not answered yet*"]


def sheet_json(sheet: Sheet) -> str:
    """Return the sheet as JSON, by question; ``from_record`` tells the answers of the record from the manager's."""
    campaign = sheet.facts.campaign
    answers = [
        {
            "question": entry.question.number,
            "criterion": entry.criterion or None,
            "asks": entry.question.asks,
            "options": [int(option.split(".", 1)[0]) for option in entry.chosen],
            "chosen": entry.chosen,
            "record": entry.recorded.text if entry.recorded else None,
            "text": entry.given.text or None,
            "from_record": entry.is_final,
            "answered": entry.is_answered,
        }
        for entry in sheet.entries
    ]
    document = {
        "datasheet": VERSION,
        "reference": REFERENCE,
        "form": FORM_URL,
        "assay": settings.VERSION,
        "campaign": campaign.name,
        "design_hash": campaign.design_hash or None,
        "answers": answers,
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"
