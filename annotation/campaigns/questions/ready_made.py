"""Questions that a manager adds in one click. Raters read them in their own language while the words are unchanged."""

from dataclasses import dataclass

from django.utils.translation import gettext, gettext_noop

from annotation.campaigns.questions.base import Question
from annotation.campaigns.questions.choice import Choice

# Names of languages in themselves, which need no translation.
LANGUAGES = (
    "English",
    "Español",
    "Français",
    "Deutsch",
    "Português",
    "Italiano",
    "Nederlands",
    "Polski",
    "Română",
    "Čeština",
    "Magyar",
    "Svenska",
    "Ελληνικά",
    "Русский",
    "Українська",
    "Türkçe",
    "العربية",
    "فارسی",
    "اردو",
    "हिन्दी",
    "বাংলা",
    "中文",
    "日本語",
    "한국어",
    "Tiếng Việt",
    "Bahasa Indonesia",
    "Tagalog",
    "Kiswahili",
)
READY_MADE = {
    question.name: question
    for question in (
        Question(
            "native_language",
            gettext_noop("Which is your native language? If you have several, choose the one you know best."),
            Choice.key,
            options=(*LANGUAGES, gettext_noop("Another language")),
        ),
        Question(
            "language_knowledge",
            gettext_noop("How well do you know the language of the texts?"),
            Choice.key,
            options=(
                gettext_noop("It is my native language"),
                gettext_noop("As well as a native speaker"),
                gettext_noop("Well"),
                gettext_noop("A little"),
                gettext_noop("Hardly or not at all"),
            ),
        ),
        Question(
            "expertise",
            gettext_noop("How much do you know about the subject of the texts?"),
            Choice.key,
            options=(
                gettext_noop("It is my profession, or I study it"),
                gettext_noop("I know a lot about it"),
                gettext_noop("About as much as other people"),
                gettext_noop("Little or nothing"),
            ),
        ),
    )
}


@dataclass(frozen=True)
class Wording:
    """A question as a rater reads it; the labels of the options are in their order."""

    question: str
    options: tuple[str, ...]


def wording(question: Question) -> Wording:
    """Return the question in the rater's language if it is a ready-made one, else as the manager wrote it."""
    ready = next((each for each in READY_MADE.values() if each.question == question.question), None)
    if ready is None:
        return Wording(question.question, question.options)
    translated = set(ready.options) - set(LANGUAGES)
    labels = (gettext(option) if option in translated else option for option in question.options)
    return Wording(gettext(question.question), tuple(labels))
