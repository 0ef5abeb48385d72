"""The definition of a word for all texts that are cleaned or compared, for all of Unicode."""

import re
import unicodedata

LAST_MARK = 0x1FFFF  # followed by ideographs, tags and variation selectors of ideographs


def _marks() -> str:
    """Return all combining marks as ranges of a character class: for Python a Hindi vowel sign ends a word."""
    ranges: list[list[int]] = []
    for code in range(LAST_MARK + 1):
        if unicodedata.category(chr(code))[0] == "M":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


# Scripts written without spaces between words: each character counts as a word.
# Han, Hiragana and Katakana, Thai, Lao, Burmese, Khmer (letters, not their marks).
UNSPACED = (
    "\u2e80-\u2fdf\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003134f\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2\u0eb3\u0ec0-\u0ec6"
    "\u1000-\u102a\u103f\u1780-\u17b3"
)
MARKS = _marks()
WORD_CHARACTER = rf"[\w{MARKS}]"

LETTER_OR_DIGIT = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}])*")
# A word: an unspaced character with its marks, or a run of others with apostrophes inside (don't).
WORD = re.compile(
    rf"[{UNSPACED}][{MARKS}]*|(?:(?![{UNSPACED}]){WORD_CHARACTER})+(?:['’](?:(?![{UNSPACED}]){WORD_CHARACTER})+)*"
)
# A word, or a single other sign.
TOKEN = re.compile(rf"{WORD.pattern}|[^\s]")


def count_words(text: str) -> int:
    """Count the words between spaces and punctuation; in scripts without spaces, the characters.

    >>> count_words("Don't you - ever - ask?")
    4
    >>> count_words("你好吗？")
    3
    """
    return len(WORD.findall(text))
