"""The parameters of mining: checked, stored and signed."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from hashlib import sha256
from typing import Any

from annotation.core.canonical import canonical_json
from annotation.core.normalisation import DEFAULT_RULE, RULES
from annotation.hygiene.near import MEASURE
from annotation.hygiene.refusal import ParameterRefused, check_number, check_whole, refuse
from annotation.hygiene.steps import AnyStep, in_order, step_from_dict, step_to_dict

VERSION = 1
MAX_TEXTS = 1000
MAX_DEPTH = 1000
LARGEST_SEED = 2**63 - 1


@dataclass(frozen=True)
class MiningSpecification:
    """The texts to mine for each seed.

    Parameters
    ----------
    n : int
        Mined texts to keep, 15 as in ΔBLEU; 0 for none.
    parrot : bool
        Also the message itself as a response.
    negatives : int
        Random responses of the corpus to keep.
    seed : int
        Random seed; each item's draws also depend on its external id.
    hygiene : tuple of steps
        From ``annotation.hygiene.steps``; run in a fixed order.
    near_duplicate : float
        Least Jaccard coefficient at which two texts are marked as near-duplicates; 1 marks only texts that differ in
        case, punctuation and spacing.
    normalisation : str
        The rule under which two texts are the same; the data set's.
    depth : int
        At most ``depth * n`` texts of the ranking, and ``depth * negatives`` random draws, are looked at.
    alpha, epsilon : float
        Parameters of the score, d(m̃, m) · (α d(r̃, r) + (1 − α) ε): Sordoni et al., "A Neural Network Approach to
        Context-Sensitive Generation of Conversational Responses", NAACL 2015, section 4.2.
    """

    n: int = 15
    parrot: bool = True
    negatives: int = 0
    seed: int = 20150726
    hygiene: tuple[AnyStep, ...] = ()
    near_duplicate: float = 0.9
    normalisation: str = DEFAULT_RULE
    depth: int = 10
    alpha: float = 0.5
    epsilon: float = 0.0

    def __post_init__(self) -> None:
        check_whole("n", self.n, 0, MAX_TEXTS)
        check_whole("negatives", self.negatives, 0, MAX_TEXTS)
        check_whole("seed", self.seed, 0, LARGEST_SEED)
        check_whole("depth", self.depth, 1, MAX_DEPTH)
        check_number("near_duplicate", self.near_duplicate, 0.1, 1)
        check_number("alpha", self.alpha, 0, 1)
        check_number("epsilon", self.epsilon, 0, 1000)
        if not isinstance(self.parrot, bool):
            refuse("parrot", self.parrot, "true or false")
        if not isinstance(self.normalisation, str) or self.normalisation not in RULES:
            refuse("normalisation", self.normalisation, f"one of {', '.join(RULES)}")
        if not (self.n or self.parrot or self.negatives):
            refuse("n", self.n, "1 or more, unless the parrot or random responses are requested")
        object.__setattr__(self, "hygiene", in_order(self.hygiene))

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as JSON."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {"version": VERSION, **values, "hygiene": [step_to_dict(step) for step in self.hygiene]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "MiningSpecification":
        """Read the output of ``to_dict``, or a part of it; ParameterRefused names a wrong field."""
        known = [each.name for each in fields(cls)]
        for name in data:
            if name not in ("version", *known):
                refuse(str(name), "an unknown parameter", f"one of {', '.join(known)}")
        if data.get("version", VERSION) != VERSION:
            refuse("version", data["version"], f"{VERSION}")
        values = {name: data[name] for name in known if name in data}
        if "hygiene" in values:
            values["hygiene"] = _steps(values["hygiene"])
        return cls(**values)

    def signature(self) -> str:
        """Return a line by which others can reproduce the mining; a long list of steps is hashed."""
        steps = "+".join(step.signature() for step in self.hygiene) or "none"
        if len(steps) > 200:
            digest = sha256(canonical_json([step_to_dict(step) for step in self.hygiene])).hexdigest()[:16]
            steps = f"{len(self.hygiene)} steps,{digest}"
        return "|".join(
            [
                f"mining.v{VERSION}",
                f"n:{self.n}",
                f"depth:{self.depth}",
                f"parrot:{'yes' if self.parrot else 'no'}",
                f"negatives:{self.negatives}",
                f"seed:{self.seed}",
                f"same:{self.normalisation}",
                f"near:{MEASURE}>={self.near_duplicate:g}",
                f"score:sordoni2015(alpha={self.alpha:g},epsilon={self.epsilon:g})",
                f"hygiene:{steps}",
            ]
        )


def _steps(records: object) -> tuple[AnyStep, ...]:
    if not isinstance(records, list | tuple):
        refuse("hygiene", records, "a list of steps")
    steps = []
    for index, record in enumerate(records):
        try:
            steps.append(step_from_dict(record))
        except ParameterRefused as refusal:
            raise refusal.inside(f"hygiene[{index}]") from None
    return tuple(steps)
