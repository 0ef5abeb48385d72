r"""Texts in files that hold one text a line, written so that they can be read back exactly.

A backslash is written ``\\``, a tab ``\t``, a line feed ``\n``, a carriage return ``\r``; other characters at which
some reader ends a line (vertical tab, form feed, the separators U+001C to U+001E, U+0085, U+2028, U+2029) as ``\u``
and four hexadecimal digits. Nothing else is changed.
"""

import re

NAMED = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
TO_ESCAPE = re.compile("[\\\\\t\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.|$)", re.DOTALL)
MEANT = {written[1]: character for character, written in NAMED.items()}


def escaped(text: str) -> str:
    r"""Return the text as one line without tabs.

    >>> escaped("a\tb")
    'a\\tb'
    """
    return TO_ESCAPE.sub(lambda match: NAMED.get(match[0], f"\\u{ord(match[0]):04x}"), text)


def one_line(text: str) -> str:
    """Return the text with all white space as single spaces."""
    return " ".join(text.split())


def unescaped(written: str) -> str:
    r"""Return the text that ``escaped`` was given.

    Raises
    ------
    ValueError
        For a backslash before anything else than ``escaped`` writes there.

    Examples
    --------
    >>> unescaped("a\\tb")
    'a\tb'
    """

    def character(match: re.Match[str]) -> str:
        name = match[1]
        if len(name) == 5:
            return chr(int(name[1:], 16))
        if name not in MEANT:
            raise ValueError(f"a backslash before {name!r}" if name else "a backslash at the end")
        return MEANT[name]

    return ESCAPED.sub(character, written)
