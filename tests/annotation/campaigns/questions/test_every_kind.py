"""Every kind of answer: what it accepts, refuses, stores and says; and the design that holds the questions."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from django.template.loader import get_template
from django.utils import translation

from annotation.campaigns.design.questionnaire import MOST_QUESTIONS, Questionnaire, question_data
from annotation.campaigns.design.reading import DesignError
from annotation.campaigns.questions import KINDS, READY_MADE, Question, kind_of, wording
from annotation.rating.languages import LANGUAGES

EXAMPLES = {
    "choice": Question("lang", "Which?", "choice", options=("English", "Deutsch")),
    "several": Question("more", "Which others?", "several", options=("English", "Deutsch", "Polski")),
    "text": Question("job", "Your profession?", "text", longest=12),
    "number": Question("age", "Your age?", "number", low=18, high=99),
}
ACCEPTED = {
    "choice": (["Deutsch"], ["Deutsch"]),
    "several": (["Polski", "English"], ["English", "Polski"]),
    "text": (["  a   nurse "], ["a nurse"]),
    "number": ([" 20,5 "], ["20.5"]),
}
REFUSED = {
    "choice": (["Français"], ["English", "Deutsch"]),
    "several": (["English", "Français"],),
    "text": (["more than twelve characters"], ["a\x00b"]),
    "number": (["old"], ["17"], ["100"], ["nan"], ["inf"], ["1e400"]),
}


@pytest.mark.parametrize("kind", [kind.key for kind in KINDS])
def test_a_kind_accepts_refuses_and_simulates(kind: str) -> None:
    answers = kind_of(EXAMPLES[kind])
    given, stored = ACCEPTED[kind]

    assert answers.read(given) == stored
    for wrong in (*REFUSED[kind], [], [" "]):
        with pytest.raises(ValueError, match="Please"):
            answers.read(wrong)
    assert kind_of(replace(EXAMPLES[kind], required=False)).read([""]) == []
    assert answers.read([answers.simulate(np.random.default_rng(1))])
    assert answers.summary
    assert list(answers.problems()) == []
    get_template(answers.template)


def test_a_questionnaire_is_stored_with_the_fields_that_its_kinds_use() -> None:
    design = Questionnaire("after", tuple(EXAMPLES.values()))

    assert Questionnaire.from_dict(design.to_dict()) == design
    assert set(design.to_dict()["questions"][3]) == {"name", "question", "kind", "required", "low", "high"}
    assert Questionnaire().to_dict() == Questionnaire(when="after").to_dict() == {}
    assert design.facts()[0] == ("Questions to raters", "after the first item")
    assert design.facts()[4] == ("Age", "Your age? – a number from 18 up to 99")


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"kind": "essay"}, "questions.1.kind"),
        ({"name": "1st"}, "questions.1.name"),
        ({"question": " "}, "questions.1.question"),
        ({"options": ["one"]}, "questions.1.options"),
        ({"options": ["one", "one"]}, "questions.1.options"),
        ({"options": ["one", "two  words"]}, "questions.1.options"),
        ({"options": "one"}, "questions.1.options"),
        ({"low": 1}, "questions.1.low"),
        ({"required": 1}, "questions.1.required"),
        ({"kind": "number", "low": 3, "high": 2}, "questions.1.high"),
        ({"kind": "text", "longest": 0}, "questions.1.longest"),
    ],
)
def test_a_mistake_is_tied_to_its_field(change: dict[str, Any], path: str) -> None:
    entry = question_data(EXAMPLES["choice"]) | change
    if entry["kind"] in ("number", "text"):
        entry.pop("options")
    with pytest.raises(DesignError) as refused:
        Questionnaire.from_dict({"questions": [entry]})
    assert path in refused.value.problems


def test_names_are_unique_and_questions_few() -> None:
    entry = question_data(EXAMPLES["text"])
    for data, path in (
        ({"questions": [entry, entry]}, "questions.2.name"),
        ({"questions": [entry] * (MOST_QUESTIONS + 1)}, "questions"),
        ({"when": "later", "questions": [entry]}, "when"),
        ([], "it"),
    ):
        with pytest.raises(DesignError) as refused:
            Questionnaire.from_dict(data)
        assert path in refused.value.problems


@pytest.mark.parametrize("name", READY_MADE)
def test_a_ready_made_question_is_read_in_each_language_until_its_words_change(name: str) -> None:
    question = READY_MADE[name]
    texts = set()
    for code in LANGUAGES:
        with translation.override(code):
            words = wording(question)
            texts.add((words.question, words.options[-1]))
    assert len(texts) == len(LANGUAGES)
    with translation.override("de"):
        changed = replace(question, question="How well do you know Scots?")
        assert wording(changed).question == "How well do you know Scots?"
        assert wording(replace(question, options=("English", "Klingon"))).options == ("English", "Klingon")
