"""What a request of a rater starts with: the campaign of the link, the rater of the browser, the screen of a token."""

from collections.abc import Sequence
from copy import copy
from typing import Any
from uuid import UUID

from annotation.core import sql
from annotation.models import Campaign, Participation, Presentation, Rater
from annotation.models.accounts import not_being_deleted

REMEMBERED = 64  # campaigns in the memory of a process

PRESENTATION = sql.Columns(Presentation, "annotation_presentation")
_PARTICIPATION, _RATER = sql.Columns(Participation, "p"), sql.Columns(Rater, "r")

# A row that was changed is another version of it: at another place of the table, or written by another transaction.
_VERSION = """
    SELECT concat_ws(' ', c.xmin, c.ctid, p.xmin, p.ctid, d.xmin, d.ctid)
    FROM annotation_campaign c
    JOIN annotation_project p ON p.id = c.project_id
    JOIN annotation_dataset d ON d.id = c.dataset_id
    WHERE c.link_token = %s AND NOT EXISTS (SELECT FROM annotation_projectdeletion x WHERE x.project_id = p.id)
"""

_remembered: dict[UUID, tuple[str, Campaign]] = {}


def campaign_of_link(link_token: UUID) -> Campaign | None:
    """Return the campaign that raters reach by a link, with its project and its data set; None without one.

    A process remembers it while no row of the three has changed.
    """
    version = sql.row(_VERSION, [link_token], prepared=True)
    known = _remembered.get(link_token)
    if known and version and known[0] == version[0]:
        return copy(known[1])
    rows = Campaign.objects.select_related("project", "dataset").filter(not_being_deleted("project"))
    campaign = rows.filter(link_token=link_token, imported=False).first()
    _remembered.pop(link_token, None)
    if campaign and version:
        for oldest in list(_remembered)[: max(len(_remembered) - REMEMBERED + 1, 0)]:  # threads share it
            _remembered.pop(oldest, None)
        _remembered[link_token] = version[0], copy(campaign)
    return campaign


_OF_BROWSER = f"""
    SELECT {_PARTICIPATION}, {_RATER}
    FROM annotation_participation p JOIN annotation_rater r ON r.id = p.rater_id
    WHERE p.campaign_id = %s AND r.access_token = %s
"""  # noqa: S608 - columns of our tables


def participation_of_token(campaign: Campaign, access_token: UUID) -> Participation | None:
    """Return the participation, with its rater, of a browser."""
    row = sql.row(_OF_BROWSER, [campaign.pk, access_token], prepared=True)
    if row is None:
        return None
    participation = _PARTICIPATION.instance(row[: len(_PARTICIPATION)])
    participation.campaign, participation.rater = campaign, _RATER.instance(row[len(_PARTICIPATION) :])
    return participation


_OF_TOKEN = f"""
    SELECT {PRESENTATION} FROM annotation_presentation WHERE token = %s AND rater_id = %s AND campaign_id = %s
"""  # noqa: S608 - columns of our tables


def presentation_of_token(campaign: Campaign, rater: Rater, token: UUID) -> Presentation | None:
    """Return a rater's presentation in a campaign."""
    row = sql.row(_OF_TOKEN, [token, rater.pk, campaign.pk], prepared=True)
    return presentation_from(row, campaign, rater) if row else None


def presentation_from(row: Sequence[Any], campaign: Campaign, rater: Rater) -> Presentation:
    """Return the presentation of a row of its columns."""
    presentation = PRESENTATION.instance(row)
    presentation.campaign, presentation.rater = campaign, rater
    return presentation
