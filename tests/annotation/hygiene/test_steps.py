"""Texts as people write them, with the expected result of each step."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from annotation.hygiene.steps import (
    STEPS,
    AnyStep,
    Blocklist,
    Language,
    Length,
    MaskEmails,
    MaskHandles,
    MaskUrls,
    clean,
    languages,
    mask,
    step_from_dict,
    step_to_dict,
)

MASKS = (MaskUrls(), MaskEmails(), MaskHandles())
SAME = None  # the text stays as it is


def assert_cleaned(step: AnyStep, text: str, expected: str | None, count: int = 1) -> None:
    cleaned = step.apply(text)
    assert cleaned.text == (text if expected is None else expected)
    assert not cleaned.dropped
    assert cleaned.reasons == (() if expected is None else (f"{step.name}: {count} masked",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see https://example.com/a?b=1.", "see <url>."),
        ("(https://en.wikipedia.org/wiki/Foo_(bar))", "(<url>)"),  # its own brackets, and the sentence's
        ("[here](https://a.example/d)", "[here](<url>)"),
        ("HTTP://EXAMPLE.COM/X!", "<url>!"),
        ("www.example.de, I think", "<url>, I think"),
        ("youtu.be/xyz?t=3, lol", "<url>, lol"),  # without a scheme, with a path
        ("bit.ly/2x", "<url>"),
        ("example.com is down", "<url> is down"),  # without a scheme or path, of a well-known ending
        ("ask at example.co.uk.", "ask at <url>."),
        ("http://192.168.0.1:8000/admin", "<url>"),
        ("https://user:word@example.com/x", "<url>"),
        ("auf bücher.example.org/straße steht es", "auf <url> steht es"),
        ("看https://a.example/d，好", "看<url>，好"),  # no spaces, full-width punctuation
        ("“https://a.example”", "“<url>”"),
        ("I said so.Then I left", SAME),  # a forgotten space
        ("e.g./i.e. and/or km/h 3.5/5", SAME),
        ("node.js or asp.net?", "node.js or <url>?"),  # what looks like an address is taken for one
        ("write to anna@example.com", SAME),  # that is mask_emails'
        ("...and so on... what?", SAME),
        ("", SAME),
    ],
)
def test_urls_are_masked_and_punctuation_stays(text: str, expected: str | None) -> None:
    assert_cleaned(MaskUrls(), text, expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("write to anna.b+news@example.co.uk.", "write to <email>."),
        ("(a@b.example)", "(<email>)"),
        ("'a@b.example'", "'<email>'"),
        ("<a@b.example>", "<<email>>"),
        ("mailto:a@b.example!", "<email>!"),
        ("ünal@münchen.de", "<email>"),
        ("Anna_B@Mail.Example.COM?", "<email>?"),
        ("o'neil@example.ie", "<email>"),
        ("@anna and @anna@example.social", SAME),  # handles
        ("me@home, a @ b", SAME),
        ("3@4.5", SAME),
    ],
)
def test_email_addresses_are_masked_and_handles_are_not(text: str, expected: str | None) -> None:
    assert_cleaned(MaskEmails(), text, expected)


def test_every_address_counts() -> None:
    assert_cleaned(MaskEmails(), "a@b.example, c@d.example", "<email>, <email>", 2)
    assert_cleaned(MaskHandles(), "@a @b @c", "<user> <user> <user>", 3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@anna hi", "<user> hi"),
        ("RT @Anna_B: (@c)", "RT <user>: (<user>)"),
        ("that is @anna's dog.", "that is <user>'s dog."),
        ("thanks @anna.", "thanks <user>."),
        ("@anna@example.social.", "<user>."),  # of the fediverse
        ("@insta.name!", "<user>!"),
        ("@_@_", "<user>"),  # one behind another
        ("@anna/u/anna", "<user>"),
        ("@50cent", "<user>"),
        ("ask /u/some_one or u/some-one", "ask <user> or <user>"),
        ("＠たろう さん", "<user> さん"),  # full-width
        ("看@anna 好", "看<user> 好"),
        ("anna@example.com", SAME),  # an e-mail address
        ("josé@example.com", SAME),
        ("meet @5pm, or @ home, at @5", SAME),  # times and places
        ("r/python and either/u/or", SAME),
        ("https://video.example/@anna", SAME),  # an address of a page
    ],
)
def test_handles_are_masked_and_times_are_not(text: str, expected: str | None) -> None:
    assert_cleaned(MaskHandles(), text, expected, 2 if (expected or "").count("<user>") == 2 else 1)


def test_masks_work_together_in_their_order() -> None:
    text = "@anna (anna@example.com) wrote https://u:w@example.com/@anna"
    assert clean(text, MASKS[::-1]).text == "<user> (<email>) wrote <url>"
    assert mask(text, [*MASKS, Length(99, 100)]) == "<user> (<email>) wrote <url>"  # shown, whatever its length


@example("@a/u/abb@b/u/bbb")
@given(st.text(st.sampled_from("ab@./:-_ 5看>hu<?()'\u0301"), max_size=40))
def test_a_masked_text_has_nothing_left_to_mask(text: str) -> None:
    once = mask(text, MASKS)
    assert mask(once, MASKS) == once


@pytest.mark.parametrize("part", ["a%", "a.", "a-", "@a.", "www.", ")", "a@", "u/", "a'"])
def test_no_step_takes_quadratic_time(part: str) -> None:
    """40,000 characters that look like the start of an address; a quadratic step would take minutes."""
    steps = [*MASKS, Language(), Length(), Blocklist(("a a b",))]
    started = time.process_time()
    clean(f"http://a{part * (40_000 // len(part))}", steps)
    clean(part * (40_000 // len(part)), steps)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("language", "text", "dropped", "reasons"),
    [
        ("en", "What on earth are you talking about?", False, ()),
        ("en", "Das ist mir völlig egal, mach was du willst.", True, ("language: de",)),
        ("en", "Je ne sais pas du tout ce que tu veux dire.", True, ("language: fr",)),
        ("en", "你好，今天天气怎么样？", True, ("language: zh",)),
        ("en", "Что ты об этом думаешь?", True, ("language: ru",)),
        ("de", "What on earth are you talking about?", True, ("language: en",)),
        ("pt-BR", "Não sei o que dizer sobre isso, cara", False, ()),
        ("zh", "你好，今天天气怎么样？", False, ()),
        ("yue", "你好，今天天气怎么样？", False, ()),  # detected as one language
        ("nb", "Ja det er riktig, jeg vet ikke hva jeg skal si", False, ()),
        # Too short or without language: kept, with a reason.
        ("en", "ok", False, ("language: too short to tell",)),
        ("en", "Das egal!", False, ("language: too short to tell",)),
        ("en", "👍👍👍 123 ...", False, ("language: too short to tell",)),
        (
            "en",
            "https://media.example.com/images/2209db4bbec0e8149b3c928d982e17b3/x.gif",
            False,
            ("language: too short to tell",),
        ),
        ("en", "@a_very_long_name_of_an_account lol", False, ("language: too short to tell",)),
        ("en", "<url> <user> <email> <url> <user>", False, ("language: too short to tell",)),
        ("en", "lol wut omg rofl yolo swag bruh", False, ("language: not sure",)),
    ],
)
def test_only_texts_surely_in_another_language_are_dropped(
    language: str, text: str, dropped: bool, reasons: tuple[str, ...]
) -> None:
    assert Language(language).apply(text) == (text, dropped, reasons)


def test_languages_are_named_as_iso_639_does() -> None:
    assert {"en", "de", "fr", "zh", "ar", "hi", "ja", "sw"} <= set(languages())
    assert not {"zxx", "yue", "wuu", "nn"} & set(languages())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't you - ever - ask?", 4),
        ("", 0),
        ("... !!! 👍", 0),
        ("你好吗？", 3),  # no spaces: each character
        ("これはペン", 5),
        ("हिन्दी में", 2),  # vowel signs end no word
        ("안녕하세요 여러분", 2),
        ("<url> is down", 3),  # a mask is one
        ("well-known 3.5", 4),
    ],
)
def test_words_are_counted_in_all_scripts(text: str, words: int) -> None:
    assert not Length(words, max(1, words)).apply(text).dropped
    assert Length(words + 1, words + 1).apply(text) == (text, True, (f"length: fewer than {words + 1} words",))
    if words > 1:
        assert Length(1, words - 1).apply(text) == (text, True, (f"length: more than {words - 1} words",))


BLOCKED = Blocklist(("ass", "Bad Word", "f***", "हिन", "straße", "user", "don't", "屁"))


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("a class act", ()),  # whole words
        ("You ASS!", ("ass",)),
        ("one bad\u00a0 word", ("Bad Word",)),
        ("BAD WORD, ass", ("Bad Word", "ass")),
        ("bad, word", ()),
        ("what the f***!", ("f***",)),
        ("STRASSE", ("straße",)),  # case folding
        ("ａｓｓ", ("ass",)),  # full-width letters
        ("हिन्दी", ()),  # a vowel sign ends no word
        ("हिन", ("हिन",)),
        ("I don’t", ("don't",)),
        ("放屁", ("屁",)),  # no spaces between words
        ("<user> said", ()),  # a mask says nothing
        ("the user said", ("user",)),
    ],
)
def test_blocked_phrases_match_whole_words_in_any_case(text: str, phrases: tuple[str, ...]) -> None:
    assert BLOCKED.apply(text) == (text, bool(phrases), tuple(f"blocklist: {phrase}" for phrase in phrases))


def test_a_reason_is_short_enough_to_be_stored() -> None:
    ((reason),) = Blocklist(("long " * 30,)).apply("long " * 30).reasons
    assert len(reason) == 80


def test_all_steps_give_reasons_even_if_one_drops_the_text() -> None:
    steps = [Blocklist(("darn",)), Length(1, 2), MaskHandles()]
    assert clean("darn it @anna", steps) == (
        "darn it <user>",
        True,
        ("mask_handles: 1 masked", "length: more than 2 words", "blocklist: darn"),
    )


@given(st.text(), st.sets(st.sampled_from([*MASKS, Language(), Length(2, 5), BLOCKED])))
def test_a_text_that_is_changed_or_dropped_always_has_a_reason(text: str, steps: set[AnyStep]) -> None:
    cleaned = clean(text, list(steps))
    assert cleaned.reasons or (cleaned.text == text and not cleaned.dropped)
    assert all(len(reason) <= 80 and reason.split(":")[0] in STEPS for reason in cleaned.reasons)


@pytest.mark.parametrize("step", [*MASKS, Language("de"), Length(2, 5), BLOCKED])
def test_a_step_survives_serialisation_with_its_version(step: AnyStep) -> None:
    assert step_to_dict(step)["version"] == step.version == 1
    assert step_from_dict(step_to_dict(step)) == step
    assert step.signature().startswith(f"{step.name}.v1")


@pytest.mark.parametrize(
    "record",
    [
        {"step": "blocklist", "phrases": ["a\0b"]},
        {"step": "blocklist", "phrases": ["a\ud800"]},
        {"step": "language", "language": "en-\0"},
    ],
)
def test_values_that_cannot_be_stored_are_refused(record: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="accepted"):
        step_from_dict(record)
