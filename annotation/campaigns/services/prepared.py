"""Checks, training and test of a draft, against its scales, its presentation and its data set."""

from collections.abc import Iterable, Iterator

from annotation.campaigns.design import DesignError, PreparedScreen, QualificationDesign, QualityDesign
from annotation.campaigns.fields.table import CampaignDraft, CriterionDraft
from annotation.campaigns.presentations import PRESENTATIONS
from annotation.campaigns.scales import SCALES, fewest_responses
from annotation.campaigns.services.problems import Problems
from annotation.models import Item, ResponseSource, SourceKind


def validate_prepared(draft: CampaignDraft, problems: Problems) -> None:
    quality = QualityDesign()
    qualification = QualificationDesign()
    try:
        quality = QualityDesign.from_dict(draft.quality)
    except DesignError as error:
        _refuse_all("quality", error, problems)
    try:
        qualification = QualificationDesign.from_dict(draft.qualification)
    except DesignError as error:
        _refuse_all("qualification", error, problems)
    groups = [
        ("quality.gold", quality.gold),
        ("quality.attention", quality.attention),
        ("qualification.training", qualification.training),
        ("qualification.test", qualification.test),
    ]
    scales = {criterion.name: criterion.stored() for criterion in draft.criteria}
    known = _known_items(draft, [screen for _, screens in groups for screen in screens])
    for path, screens in groups:
        for number, screen in enumerate(screens, start=1):
            _validate_screen(screen, f"{path}.{number}", draft, scales, known, problems)
    _validate_drawn(draft, quality, scales, problems)


def _refuse_all(name: str, error: DesignError, problems: Problems) -> None:
    for path, message in error.problems.items():
        problems.refuse(name if path == "it" else f"{name}.{path}", message)


def _known_items(draft: CampaignDraft, screens: Iterable[PreparedScreen]) -> set[str]:
    wanted = {screen.item for screen in screens if screen.item}
    found = Item.objects.filter(dataset=draft.dataset, external_id__in=wanted)
    return set(found.values_list("external_id", flat=True))


def _validate_screen(
    screen: PreparedScreen,
    path: str,
    draft: CampaignDraft,
    scales: dict[str, CriterionDraft],
    known: set[str],
    problems: Problems,
) -> None:
    if screen.item and screen.item not in known:
        problems.refuse(
            f"{path}.item",
            f"The data set {draft.dataset.name!r} has no item {screen.item!r}; accepted: one of its ids, or nothing.",
        )
    if draft.presentation in PRESENTATIONS:
        least, most = PRESENTATIONS[draft.presentation].texts
        least = max(least, fewest_responses(scale for scale in scales.values() if scale.kind in SCALES))
        if not least <= len(screen.texts) <= most:
            accepted = f"{least}" if least == most else f"{least} to {most}"
            problems.refuse(
                f"{path}.texts", f"Found {_texts(len(screen.texts))}; accepted as the campaign shows them: {accepted}."
            )
    for number, text in enumerate(screen.texts, start=1):
        for name, (low, high) in text.expected.items():
            for problem in _off_scale(name, (low, high), scales):
                problems.refuse(f"{path}.texts.{number}.expected.{name}", problem)


def _validate_drawn(
    draft: CampaignDraft, quality: QualityDesign, scales: dict[str, CriterionDraft], problems: Problems
) -> None:
    """Checks that are made from the data set itself."""
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


def _off_scale(name: str, expected: tuple[float, float], scales: dict[str, CriterionDraft]) -> Iterator[str]:
    low, high = expected
    scale = scales.get(name)
    found = f"{low:g}" if low == high else f"{low:g} to {high:g}"
    if scale is None:
        yield f"There is no criterion {name!r}; accepted: {', '.join(scales)}."
    elif scale.kind in SCALES and (accepted := scale.scale.expected_problem(low, high)):
        yield f"Found {found}; accepted: {accepted}."


def _texts(n: int) -> str:
    return f"{n} text{'' if n == 1 else 's'}"
