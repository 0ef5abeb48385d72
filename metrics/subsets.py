"""Which references of a release count, and on which items."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from metrics.scoring.metric import WEIGHT_DECIMALS, to_decimals

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

OPERATORS = (">", ">=")
WRITTEN = re.compile(r"w\s*(>=?|≥)\s*([+-]?\d*\.?\d+)")
ACCEPTED = "“all”, “original”, “w>0” or another threshold from -1 to 1 with > or >="


@dataclass(frozen=True)
class Subset:
    """References by weight or origin; ``items``: "referenced" (all that have one) or "positive" (a weight above 0)."""

    kind: str = "all"
    op: str = ">="
    value: float = 0.0
    items: str = "referenced"

    def __post_init__(self) -> None:
        if self.kind not in ("all", "original", "threshold"):
            raise ValueError(f"subset: found kind {self.kind!r}; accepted: 'all', 'original', 'threshold'")
        if self.op not in OPERATORS:
            raise ValueError(f"subset: found operator {self.op!r}; accepted: '>' and '>='")
        if isinstance(self.value, bool) or not isinstance(self.value, int | float) or not -1 <= self.value <= 1:
            raise ValueError(f"subset: found threshold {self.value!r}; accepted: a weight from -1 to 1")
        if self.items not in ("referenced", "positive"):
            raise ValueError(f"subset: found items {self.items!r}; accepted: 'referenced', 'positive'")

    @classmethod
    def parse(cls, text: str, *, items: str = "referenced") -> Self:
        """From what a person writes: ``all``, ``original``, ``w>0``, ``w>=0.6``.

        >>> Subset.parse("w >= 0.6")
        Subset(kind='threshold', op='>=', value=0.6, items='referenced')
        """
        written = text.strip().lower()
        if written in ("all", "original", "single"):
            return cls("all" if written == "all" else "original", items=items)
        match = WRITTEN.fullmatch(written)
        if match is None:
            raise ValueError(f"subset: found {text!r}; accepted: {ACCEPTED}")
        return cls("threshold", match[1].replace("≥", ">="), float(match[2]), items)

    @classmethod
    def from_mapping(cls, fields: Mapping[str, Any]) -> Self:
        """From what ``as_dict`` wrote."""
        unknown = set(fields) - {"kind", "op", "value", "items"}
        if unknown:
            raise ValueError(f"subset: found {', '.join(sorted(unknown))}; accepted: kind, op, value, items")
        return cls(**fields)

    def as_dict(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"kind": self.kind}
        if self.kind == "threshold":
            fields |= {"op": self.op, "value": self.value}
        return fields if self.items == "referenced" else fields | {"items": self.items}

    def __str__(self) -> str:
        """As written in signatures; ``parse`` reads it."""
        return f"w{self.op}{self._written_value}" if self.kind == "threshold" else self.kind

    @property
    def _written_value(self) -> str:
        """To as many decimals as are compared, without an exponent, so that ``parse`` reads it."""
        value = round(self.value, WEIGHT_DECIMALS) + 0.0  # no -0
        return f"{value:.{WEIGHT_DECIMALS}f}".rstrip("0").rstrip(".")

    @property
    def label(self) -> str:
        if self.kind == "threshold":
            return f"w {self.op.replace('>=', '≥')} {self._written_value}"
        return "single" if self.kind == "original" else "all"

    def mask(self, weights: FloatArray, is_original: BoolArray) -> BoolArray:
        """Which references count, shape (R,). Weights are compared to nine decimals: 0.6 is 0.6 however computed."""
        if self.kind == "all":
            return np.ones(weights.shape, dtype=np.bool_)
        if self.kind == "original":
            return is_original
        rounded, value = to_decimals(weights), to_decimals(self.value)
        return np.asarray(rounded > value if self.op == ">" else rounded >= value)
