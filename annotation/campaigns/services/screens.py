"""Save, remove and replace the prepared screens of a draft.

A screen has no id. A request names the screen that it changes by the mark of its content as the user saw it, so that
what others add, move or remove meanwhile is neither lost nor mistaken for that screen.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

from django.db import transaction

from annotation.campaigns.design.quality import PreparedKind
from annotation.campaigns.services.writing import campaign_change, draft_changes, draft_locked
from annotation.core.canonical import canonical_json
from annotation.core.errors import Overtaken
from annotation.models import Campaign, User
from annotation.projects.services.audit import who_made

Screen = dict[str, Any]
MARK = 16  # characters


def screen_mark(stored: Screen | Sequence[Screen]) -> str:
    """Return the mark of a stored screen, or of all screens of a kind."""
    return hashlib.sha256(canonical_json(stored)).hexdigest()[:MARK]


@transaction.atomic
def screen_save(
    *, campaign: Campaign, kind: PreparedKind, screen: Screen, seen: str = "", by: User | None = None
) -> int:
    """Replace the screen with the mark ``seen``, or add one without a mark. Return its number, from 1."""
    campaign = draft_locked(campaign)
    screens = kind.screens(campaign)
    number = _number_of(campaign, kind, screens, seen, by) if seen else len(screens) + 1
    screens[number - 1 : number] = [screen]
    _store(campaign, kind, screens, f"{kind.key}.{number}", by)
    return number


@transaction.atomic
def screen_remove(*, campaign: Campaign, kind: PreparedKind, seen: str, by: User | None = None) -> Campaign:
    campaign = draft_locked(campaign)
    screens = kind.screens(campaign)
    del screens[_number_of(campaign, kind, screens, seen, by) - 1]
    return _store(campaign, kind, screens, f"{kind.key}.none", by)  # mistakes in the other screens are not new


@transaction.atomic
def screens_replace(
    *, campaign: Campaign, kind: PreparedKind, screens: Sequence[Screen], seen: str, by: User | None = None
) -> Campaign:
    """Replace all screens of a kind, which had the mark ``seen``."""
    campaign = draft_locked(campaign)
    if screen_mark(kind.screens(campaign)) != seen:
        raise Overtaken(
            f"{_changer(campaign, kind, by)} changed these items after you opened the page. Yours are not saved "
            "yet. Save again to replace all of them, or reload the page to see that change."
        )
    return _store(campaign, kind, list(screens), kind.key, by)


def _number_of(campaign: Campaign, kind: PreparedKind, screens: Sequence[Screen], seen: str, by: User | None) -> int:
    marks = [screen_mark(screen) for screen in screens]
    if seen not in marks:
        raise Overtaken(f"{_changer(campaign, kind, by)} changed or removed this item after you opened it.")
    return marks.index(seen) + 1


def _changer(campaign: Campaign, kind: PreparedKind, by: User | None) -> str:
    return who_made(draft_changes(campaign).filter(data__fields__contains=[kind.field]).first(), by)


def _store(campaign: Campaign, kind: PreparedKind, screens: list[Screen], settle: str, by: User | None) -> Campaign:
    changes = {kind.field: {**getattr(campaign, kind.field), kind.key: screens}}
    return campaign_change(campaign=campaign, changes=changes, settle=[f"{kind.field}.{settle}"], by=by)
