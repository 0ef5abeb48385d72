"""Check the prepared screens of a draft against its scales, its presentation and its data set."""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from annotation.campaigns.design.quality import PREPARED, PreparedScreen, QualificationDesign, QualityDesign
from annotation.campaigns.design.reading import DesignError, StoredDesign
from annotation.campaigns.fields.table import CampaignDraft, CriterionDraft
from annotation.campaigns.presentations import PRESENTATIONS
from annotation.campaigns.scales import SCALES, fewest_responses
from annotation.campaigns.services.problems import FieldProblems
from annotation.core.numbers import counted
from annotation.models import Item, ResponseSource, SourceKind

AnyDesign = TypeVar("AnyDesign", bound=StoredDesign)
Scales = Mapping[str, CriterionDraft]


def validate_prepared(draft: CampaignDraft, problems: FieldProblems) -> None:
    quality = design_read("quality", QualityDesign, draft, problems)
    designs = {"quality": quality, "qualification": design_read("qualification", QualificationDesign, draft, problems)}
    screens: dict[str, PreparedScreen] = {
        f"{kind.field}.{kind.key}.{number}": screen
        for kind in PREPARED.values()
        for number, screen in enumerate(getattr(designs[kind.field], kind.key), start=1)
    }
    scales = {criterion.name: criterion.stored() for criterion in draft.criteria}
    named = {screen.item for screen in screens.values() if screen.item}
    items = Item.objects.filter(dataset=draft.dataset, external_id__in=named)
    unknown = named - set(items.values_list("external_id", flat=True))
    for path, screen in screens.items():
        if screen.item in unknown:
            lacks = f"The data set {draft.dataset.name!r} has no item {screen.item!r}"
            problems.refuse(f"{path}.item", f"{lacks}; accepted: one of its ids, or nothing.")
        _validate_screen(screen, path, draft.presentation, scales, problems)
    _validate_drawn(draft, quality, scales, problems)


def design_read(name: str, design: type[AnyDesign], draft: CampaignDraft, problems: FieldProblems) -> AnyDesign:
    """Return a design of the draft, or the default with its problems added."""
    try:
        return design.from_dict(getattr(draft, name))
    except DesignError as error:
        for path, message in error.problems.items():
            problems.refuse(name if path == "it" else f"{name}.{path}", message)
        return design()


def _validate_screen(
    screen: PreparedScreen, path: str, presentation: str, scales: Scales, problems: FieldProblems
) -> None:
    if presentation in PRESENTATIONS:
        least, most = PRESENTATIONS[presentation].texts
        least = max(least, fewest_responses(scale for scale in scales.values() if scale.kind in SCALES))
        n = len(screen.texts)
        if not least <= n <= most:
            accepted = f"{least}" if least == most else f"{least} to {most}"
            problems.refuse(
                f"{path}.texts", f"Found {counted(n, 'text')}; accepted as the campaign shows them: {accepted}."
            )
    for number, text in enumerate(screen.texts, start=1):
        for name, (low, high) in text.expected.items():
            for problem in _off_scale(name, (low, high), scales):
                problems.refuse(f"{path}.texts.{number}.expected.{name}", problem)


def _validate_drawn(draft: CampaignDraft, quality: QualityDesign, scales: Scales, problems: FieldProblems) -> None:
    """Check what is made from the data set itself."""
    if quality.anchor_count:
        sources = ResponseSource.objects.filter(item__dataset=draft.dataset)
        if not sources.filter(kind__in=[SourceKind.SEED, SourceKind.HUMAN]).exists():
            problems.refuse(
                "quality.anchors.count",
                f"Found {quality.anchor_count}, but the data set {draft.dataset.name!r} has no text by a person to be "
                "the high anchor; accepted: 0.",
            )
        for name, low in quality.anchor_low.items():
            for problem in _off_scale(name, (low, low), scales):
                problems.refuse(f"quality.anchors.low.{name}", problem)
    if quality.degraded_count and quality.degradations == ("foreign",) and draft.dataset.items.count() < 2:
        problems.refuse("quality.degraded.operations", "A text from another item needs a second item; accepted: drop.")


def _off_scale(name: str, expected: tuple[float, float], scales: Scales) -> Iterator[str]:
    low, high = expected
    criterion = scales.get(name)
    if criterion is None:
        yield f"There is no criterion {name!r}; accepted: {', '.join(scales)}."
    elif criterion.by_turn:
        yield f"The criterion {name!r} is about each turn; accepted: a criterion about the whole response."
    elif criterion.kind in SCALES and (accepted := criterion.scale.expected_problem(low, high)):
        given = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        yield f"Found {given}; accepted: {accepted}."
