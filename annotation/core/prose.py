"""Names within a sentence."""

from collections.abc import Sequence


def enumerated(names: Sequence[str], most: int = 0) -> str:
    """Return names as a sentence has them; of more than ``most``, if it is not 0, the last says how many are left.

    Examples
    --------
    >>> enumerated(["BLEU"]), enumerated(["BLEU", "chrF"]), enumerated(["a", "b", "c", "d", "e"], 3)
    ('BLEU', 'BLEU and chrF', 'a, b and 3 more')
    """
    if 0 < most < len(names):
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def capitalised(text: str) -> str:
    """Begin a text with a capital letter, and leave the rest as it is.

    >>> capitalised("one rating of TeamB")
    'One rating of TeamB'
    """
    return f"{text[:1].upper()}{text[1:]}"
