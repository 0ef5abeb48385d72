"""Options of a training: declared as the parameters of metrics are, so that forms and commands read them alike."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from metrics.scoring.parameters import parameters_of


@dataclass(frozen=True)
class Options:
    """Options of a training; each field has its range."""

    def __post_init__(self) -> None:
        for parameter in parameters_of(self):
            parameter.check(getattr(self, parameter.name))

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
