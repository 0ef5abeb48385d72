"""The ratings that each unit of a campaign is to have."""

from typing import NamedTuple

import numpy as np

from annotation.core import sql
from annotation.models import Campaign
from annotation.rating.selectors.ratings import BoolArray, IntArray


class Planned(NamedTuple):
    """For each unit that shows a response: both, and the ratings that the unit has and is to have."""

    response_id: IntArray
    unit_id: IntArray
    done: IntArray
    wanted: IntArray
    is_open: BoolArray  # it is handed out

    @property
    def first(self) -> BoolArray:
        """Return the first entry of each unit."""
        mask = np.zeros(self.unit_id.size, dtype=bool)
        mask[np.unique(self.unit_id, return_index=True)[1]] = True
        return mask

    @property
    def left(self) -> int:
        """Return how many slots are still to be filled."""
        return int((self.wanted - self.done)[self.first].sum())


def planned_ratings(campaign: Campaign) -> Planned:
    """Return what is or was handed out; a stopped unit is to have what it has."""
    rows = sql.rows(
        """SELECT shown.response_id, u.id, u.done_slots,
                  CASE WHEN u.stopped THEN u.done_slots ELSE greatest(u.ratings_wanted, u.done_slots) END, NOT u.stopped
           FROM annotation_unitresponse shown JOIN annotation_unit u ON u.id = shown.unit_id
           WHERE u.campaign_id = %s AND (u.done_slots > 0 OR NOT u.stopped)""",
        [campaign.pk],
    )
    response, unit, done, wanted, is_open = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    return Planned(response, unit, done, wanted, is_open.astype(bool))
