"""The translations of the rater's pages: complete, up to date, compiled."""

import re

import pytest
from django.utils import translation

from annotation.rating.languages import LANGUAGES, supported
from scripts import messages


@pytest.fixture(scope="module")
def template() -> messages.Catalog:
    return messages.collected()


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_every_text_is_translated_and_compiled(template: messages.Catalog, language: str) -> None:
    assert messages.problems(language, template) == []


def test_a_text_without_a_translation_is_found(template: messages.Catalog) -> None:
    catalog = messages.collected()
    catalog.add("Nobody has translated %(this)s.", flags=["python-format"])
    faults = messages.problems("de", catalog)
    assert any("not translated: 'Nobody has translated %(this)s.'" in fault for fault in faults)
    assert any("out of date" in fault for fault in faults)


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_browser_gets_each_language_by_its_code_in_any_case(code: str) -> None:
    assert supported(code) == supported(code.upper()) == code


def test_french_has_no_break_spaces_before_punctuation() -> None:
    with messages.catalogue_path("fr").open("rb") as file:
        catalog = messages.pofile.read_po(file, locale="fr")
    texts = [text for message in catalog if message.id for text in [message.string] if isinstance(text, str)]
    texts += [text for message in catalog if isinstance(message.string, tuple) for text in message.string]
    assert [text for text in texts if re.search(r"[^\u202f][;!?]|[^\u00a0][:%](?!\()", re.sub(r"%%", "%", text))] == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("de-AT", "de"),
        ("zh-CN", "zh-hans"),
        ("zh-TW", "zh-hans"),
        ("ar", "ar"),
        ("es-419", "es"),
        ("fr-CA", "fr"),
        ("nl", ""),
        ("", ""),
    ],
)
def test_a_browsers_language_is_matched_to_the_nearest_translation(code: str, expected: str) -> None:
    assert supported(code) == expected


def test_arabic_has_all_its_plural_forms() -> None:
    with translation.override("ar"):
        forms = {
            translation.ngettext("You have rated one item.", "You have rated %(n)s items.", n) for n in (1, 2, 3, 11)
        }
    assert len(forms) == 4
