"""Names that drafts are given by how texts are shown, and that follow when this changes."""

import re

AS_SHOWN = {"pair": "Replies in pairs", "single": "Replies, one at a time", "list": "Replies in a list"}
NUMBERED = re.compile(r" \(\d+\)$")  # where another campaign has the name


def name_as_shown(name: str, before: str, after: str) -> str:
    """Return the name for another presentation, without a number; as it is if a person has edited it.

    >>> name_as_shown("Replies in pairs (2)", "pair", "list")
    'Replies in a list'
    >>> name_as_shown("Pilot", "pair", "list")
    'Pilot'
    """
    is_given = NUMBERED.sub("", name) == AS_SHOWN.get(before)
    return AS_SHOWN[after] if is_given and after in AS_SHOWN and after != before else name
