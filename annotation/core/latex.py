"""Plain text as LaTeX."""

import re

SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "−": "$-$",
    "α": r"$\alpha$",
    "Δ": r"$\Delta$",
    "“": "``",
    "”": "''",
    "–": "--",
    "…": r"\dots{}",
    "²": r"\textsuperscript{2}",
}
SPECIAL = re.compile("|".join(map(re.escape, SIGNS)))
HEX = re.compile(r"\b[0-9a-f]{64}\b")


def escape(text: str) -> str:
    """Return the text with LaTeX's special signs escaped; a hash may be broken over lines."""
    escaped = SPECIAL.sub(lambda match: SIGNS[match.group()], text)
    return HEX.sub(lambda match: rf"\texttt{{{_breakable(match.group())}}}", escaped)


def _breakable(digits: str) -> str:
    return r"\allowbreak ".join(digits[start : start + 16] for start in range(0, len(digits), 16))
