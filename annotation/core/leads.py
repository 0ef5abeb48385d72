"""The first sentence of a text, which a page shows large, and the rest, which it shows below."""

import re

END = re.compile(r"(?<=\S\S\.)\s+(?=[A-Z0-9])")


def first_sentence(text: str) -> str:
    """Return the text up to the first full stop before a capital or a digit; initials end no sentence.

    >>> first_sentence("J. Doe agrees: r = 0.5. Others do not.")
    'J. Doe agrees: r = 0.5.'
    """
    return END.split(text, maxsplit=1)[0]


def after_first_sentence(text: str) -> str:
    """Return what follows the first sentence.

    >>> after_first_sentence("J. Doe agrees: r = 0.5. Others do not.")
    'Others do not.'
    """
    return text[len(first_sentence(text)) :].lstrip()
