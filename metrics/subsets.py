"""Reference subsets: which references of a release or a data set count, and on which items."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from metrics.scoring.metric import WEIGHT_DECIMALS, to_decimals

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

KINDS = ("all", "original", "threshold", "sources")
OPERATORS = (">", ">=")
THRESHOLD = re.compile(r"w\s*(>=?|≥)\s*([+-]?\d*\.?\d+)")
ACCEPTED = "“all”, “original”, “w>0” or another threshold from -1 to 1 with > or >="


class Weighted(Protocol):
    """A reference with its weight, such as a row of a release."""

    @property
    def weight(self) -> float: ...

    @property
    def is_original(self) -> bool: ...


@dataclass(frozen=True)
class Subset:
    """References by weight or origin; ``items``: with a reference ("referenced") or a positive one ("positive").

    ``sources`` are kinds of source: those of a data set's own references that count.
    """

    kind: str = "all"
    op: str = ">="
    value: float = 0.0
    items: str = "referenced"
    sources: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"subset: found kind {self.kind!r}; accepted: {', '.join(map(repr, KINDS))}")
        if (self.kind == "sources") != bool(self.sources):
            raise ValueError(f"subset: found sources {self.sources!r}; accepted: some if the kind is 'sources'")
        if self.op not in OPERATORS:
            raise ValueError(f"subset: found operator {self.op!r}; accepted: '>' and '>='")
        if isinstance(self.value, bool) or not isinstance(self.value, int | float) or not -1 <= self.value <= 1:
            raise ValueError(f"subset: found threshold {self.value!r}; accepted: a weight from -1 to 1")
        if self.items not in ("referenced", "positive"):
            raise ValueError(f"subset: found items {self.items!r}; accepted: 'referenced', 'positive'")

    @classmethod
    def parse(cls, text: str, *, items: str = "referenced", sources: Collection[str] = ()) -> Self:
        """Read ``all``, ``original``, ``w>0``, ``w>=0.6``; of ``sources``, kinds of source, also ``human+seed``.

        >>> str(Subset.parse("w >= 0.6")), Subset.parse("seed+human", sources=("human", "mined", "seed")).sources
        ('w>=0.6', ('human', 'seed'))
        """
        name = text.strip().lower()
        if name in ("all", "original", "single"):
            return cls("all" if name == "all" else "original", items=items)
        kinds = [kind.strip() for kind in name.split("+")]
        if sources and set(kinds) <= set(sources):
            return cls("sources", items=items, sources=tuple(sorted(set(kinds))))
        match = THRESHOLD.fullmatch(name)
        if match is None:
            joined = f", kinds of source joined by + ({', '.join(sources)})" if sources else ""
            raise ValueError(f"subset: found {text!r}; accepted: {ACCEPTED}{joined}")
        return cls("threshold", match[1].replace("≥", ">="), float(match[2]), items)

    @classmethod
    def from_mapping(cls, fields: Mapping[str, Any]) -> Self:
        """Read the result of ``as_dict``."""
        accepted = ("kind", "op", "value", "items", "sources")
        unknown = set(fields) - set(accepted)
        if unknown:
            raise ValueError(f"subset: found {', '.join(sorted(unknown))}; accepted: {', '.join(accepted)}")
        return cls(**{**fields, "sources": tuple(fields.get("sources", ()))})

    def as_dict(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"kind": self.kind}
        if self.kind == "threshold":
            fields |= {"op": self.op, "value": self.value}
        if self.kind == "sources":
            fields["sources"] = list(self.sources)
        return fields if self.items == "referenced" else fields | {"items": self.items}

    def __str__(self) -> str:
        """Return the text in signatures, which ``parse`` reads."""
        if self.kind == "sources":
            return "+".join(self.sources)
        return f"w{self.op}{self._value_text}" if self.kind == "threshold" else self.kind

    @property
    def _value_text(self) -> str:
        """Return the threshold as ``parse`` reads it: without an exponent, with as many decimals as are compared."""
        value = round(self.value, WEIGHT_DECIMALS) + 0.0  # no -0
        return f"{value:.{WEIGHT_DECIMALS}f}".rstrip("0").rstrip(".")

    @property
    def label(self) -> str:
        if self.kind == "threshold":
            return f"w {self.op.replace('>=', '≥')} {self._value_text}"
        if self.kind == "sources":
            return " and ".join(self.sources)
        return "single" if self.kind == "original" else "all"

    def mask(self, weights: FloatArray, is_original: BoolArray) -> BoolArray:
        """Return which references count, (R,). Weights are compared to nine decimals, so that any 0.6 is 0.6."""
        if self.kind in ("all", "sources"):  # only the sources chosen were loaded
            return np.ones(weights.shape, dtype=np.bool_)
        if self.kind == "original":
            return is_original
        rounded, value = to_decimals(weights), to_decimals(self.value)
        return np.asarray(rounded > value if self.op == ">" else rounded >= value)

    def row_mask(self, rows: Sequence[Weighted]) -> BoolArray:
        """Return which rows of weights count, (R,)."""
        weights = np.array([row.weight for row in rows], dtype=np.float64)
        return self.mask(weights, np.array([row.is_original for row in rows], dtype=np.bool_))
