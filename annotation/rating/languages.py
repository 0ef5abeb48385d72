"""The languages of the rater's pages. A language is a line here and a catalogue below ``locale/``.

Texts are written in English; every other language needs ``locale/<code>/LC_MESSAGES/django.po``, which
``make messages`` gathers and compiles. Django knows the direction of each code.
"""

from typing import NamedTuple


class Language(NamedTuple):
    code: str
    name: str  # in English, for the campaign's manager
    endonym: str  # the name in the language itself


SOURCE = Language("en", "English", "English")
TRANSLATIONS = (
    Language("de", "German", "Deutsch"),
    Language("es", "Spanish", "Español"),
    Language("fr", "French", "Français"),
    Language("zh-hans", "Chinese (simplified)", "简体中文"),
    Language("ar", "Arabic", "العربية"),
)
LANGUAGES = {language.code: language for language in (SOURCE, *TRANSLATIONS)}
BROWSER = ""  # a campaign without a language follows each rater's browser


def supported(code: str) -> str:
    """Return the language for a browser's code, or an empty text. Chinese of any script is served.

    >>> supported("de-AT"), supported("zh-TW"), supported("tlh")
    ('de', 'zh-hans', '')
    """
    code = code.lower()
    base = code.split("-")[0]
    served = "zh-hans" if base == "zh" else base
    return next((candidate for candidate in (code, served) if candidate in LANGUAGES), "")


def language_label(code: str) -> str:
    """Return a language's English name, or say that each rater's browser decides.

    >>> language_label("fr")
    'French'
    """
    return LANGUAGES[code].name if code in LANGUAGES else "Each rater's own, by the browser"
