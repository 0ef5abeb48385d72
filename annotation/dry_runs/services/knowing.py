"""What the simulation knows about a screen and no rater does: which text is how good, and what is expected."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotation.allocation.seeds import derive_seed
from annotation.dry_runs.simulation.answers import latent_quality
from annotation.dry_runs.simulation.screens import ShownText
from annotation.models import Campaign, Criterion, Presentation, Purpose, UnitResponse


@dataclass(frozen=True)
class Known:
    """One screen in front of one rater."""

    presentation: int
    purpose: str
    texts: list[ShownText]  # in the order shown


@dataclass(frozen=True)
class Knowledge:
    campaign: Campaign
    seed: int
    criteria: list[Criterion]

    @classmethod
    def of(cls, campaign: Campaign, seed: int) -> "Knowledge":
        return cls(campaign, seed, list(Criterion.objects.filter(campaign=campaign).order_by("position", "id")))

    def about(self, token: str) -> Known:
        shown = Presentation.objects.select_related("check_unit").get(campaign=self.campaign, token=token)
        if shown.check_unit is None:
            responses = UnitResponse.objects.filter(unit=shown.unit_id).order_by("number")
            ids = list(responses.values_list("response_id", flat=True))
            texts = [ShownText(quality) for quality in latent_quality(ids, self.seed).tolist()]
        else:
            texts = [
                self._prepared(text, shown.purpose, derive_seed(0, shown.purpose, shown.check_unit.number, number))
                for number, text in enumerate(shown.check_unit.texts)
            ]
        return Known(shown.pk, shown.purpose, [texts[number] for number in shown.order])

    def _prepared(self, text: dict[str, Any], purpose: str, own_id: int) -> ShownText:
        response, role = text.get("response"), text.get("role")
        if response is not None:
            kind = role if role in (Purpose.DEGRADED, Purpose.ANCHOR) else "work"
            return ShownText(float(latent_quality([response], self.seed, kind=str(kind))[0]))
        if expected := text.get("expected"):
            ranges = {name: (float(ends[0]), float(ends[1])) for name, ends in expected.items()}
            return ShownText(expected=ranges, commands=purpose == Purpose.ATTENTION)
        return ShownText(float(latent_quality([own_id % 2**62], self.seed)[0]))


def true_quality(responses: Sequence[int], seed: int) -> list[float]:
    found: list[float] = latent_quality(list(responses), seed).tolist()
    return found
