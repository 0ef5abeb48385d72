"""What the simulation knows about a shown screen and no rater does: how good each text is, and what is expected."""

from dataclasses import dataclass
from typing import Any

from annotation.allocation.seeds import derive_seed
from annotation.dry_runs.simulation.answers import latent_quality
from annotation.dry_runs.simulation.screens import ShownText
from annotation.models import Campaign, Presentation, Purpose, UnitResponse


@dataclass(frozen=True)
class ShownScreen:
    """A screen in front of a rater."""

    presentation: int
    purpose: str
    texts: list[ShownText]  # in the order shown


def shown_screen(campaign: Campaign, token: str, *, seed: int) -> ShownScreen:
    shown = Presentation.objects.select_related("check_unit").get(campaign=campaign, token=token)
    if shown.check_unit is None:
        responses = UnitResponse.objects.filter(unit=shown.unit_id).order_by("number")
        ids = list(responses.values_list("response_id", flat=True))
        texts = [ShownText(quality) for quality in latent_quality(ids, seed).tolist()]
    else:
        texts = [
            _prepared_text(text, shown.purpose, seed, derive_seed(0, shown.purpose, shown.check_unit.number, number))
            for number, text in enumerate(shown.check_unit.texts)
        ]
    return ShownScreen(shown.pk, shown.purpose, [texts[number] for number in shown.order])


def _prepared_text(text: dict[str, Any], purpose: str, seed: int, text_id: int) -> ShownText:
    response, role = text.get("response"), text.get("role")
    if response is not None:
        kind = role if role in (Purpose.DEGRADED, Purpose.ANCHOR) else "work"
        return ShownText(float(latent_quality([response], seed, kind=str(kind))[0]))
    if expected := text.get("expected"):
        ranges = {name: (float(ends[0]), float(ends[1])) for name, ends in expected.items()}
        return ShownText(expected=ranges, commands=purpose == Purpose.ATTENTION)
    return ShownText(float(latent_quality([text_id % 2**62], seed)[0]))
