"""Names that were probably meant: another case, other separators, a synonym, a slip of the keyboard."""

import difflib
import re
from collections.abc import Iterable, Mapping

LIKENESS = 0.8  # of the letters of both names: "mesage" for "message", not "rating" for "rater"
SHORTEST = 4  # shorter names differ from too many others by a letter
LONGEST = 100  # characters; to compare two names of a thousand takes milliseconds
COMPARED = 200  # names; a table of thousands of columns is not searched for slips

Synonyms = Mapping[str, Iterable[str]]


def plain(name: str) -> str:
    """Return a name's letters and digits in lower case, by which names are compared."""
    return re.sub(r"[\W_]+", "", name.casefold())


def nearest(name: str, known: Iterable[str], synonyms: Synonyms | None = None) -> str | None:
    """Return the known name that was probably meant by an unknown one, or None.

    Parameters
    ----------
    name : str
        A name that is not known.
    known : iterable of str
        The known names, the most likely first.
    synonyms : mapping, optional
        Other names of known ones.

    Examples
    --------
    >>> nearest("Mesage", ["id", "message"])
    'message'
    >>> nearest("prompt", ["id", "message"], {"message": ["prompt", "question"]})
    'message'
    """
    written = plain(name)
    if not written:
        return None
    names: dict[str, str] = {}
    for right in known:
        names.setdefault(plain(right), right)
    for right in list(names.values()):
        for other in (synonyms or {}).get(right, ()):
            names.setdefault(plain(other), right)
    for form in (written, written.removesuffix("s"), written + "s"):
        if form in names:
            return names[form]
    if not SHORTEST <= len(written) <= LONGEST or len(names) > COMPARED:
        return None
    like = difflib.get_close_matches(written, [other for other in names if len(other) >= SHORTEST], 1, LIKENESS)
    return names[like[0]] if like else None


def did_you_mean(name: str, known: Iterable[str], synonyms: Synonyms | None = None, *, what: str = "") -> str:
    """Return `` (did you mean message?)``, to follow what is accepted; an empty text if no known name is near."""
    near = nearest(name, known, synonyms)
    return f" (did you mean {what}{near}?)" if near is not None and near != name else ""
