"""Raters through providers: accounts, recruitments, arrivals, endings, payment, messages.

Requests to a provider never happen inside a transaction: the answer is stored afterwards, and what is lost in between
is read again at the next refresh.
"""

from annotation.recruitment.services.accounts import (
    account_check,
    account_connect,
    account_receive_messages,
    account_remove,
    account_update,
    client_of,
)
from annotation.recruitment.services.arrivals import Taken, arrival_take
from annotation.recruitment.services.bonuses import (
    amounts_read,
    bonus_discard,
    bonus_pay,
    bonus_prepare,
    bonus_settle,
)
from annotation.recruitment.services.endings import stay_decline, stay_end, stay_turned_away
from annotation.recruitment.services.events import event_handle, event_receive, events_due
from annotation.recruitment.services.refreshing import recruitment_refresh, recruitments_due
from annotation.recruitment.services.reviewing import submissions_approve, submissions_ask_return, submissions_reject
from annotation.recruitment.services.studies import (
    recruitment_create,
    recruitment_discard,
    recruitment_draft,
    recruitment_extend,
    recruitment_pause,
    recruitment_publish,
    recruitment_resume,
    recruitment_stop,
    recruitment_update,
)
from annotation.recruitment.services.turns import RECRUITMENTS, turn

__all__ = [
    "RECRUITMENTS",
    "Taken",
    "account_check",
    "account_connect",
    "account_receive_messages",
    "account_remove",
    "account_update",
    "amounts_read",
    "arrival_take",
    "bonus_discard",
    "bonus_pay",
    "bonus_prepare",
    "bonus_settle",
    "client_of",
    "event_handle",
    "event_receive",
    "events_due",
    "recruitment_create",
    "recruitment_discard",
    "recruitment_draft",
    "recruitment_extend",
    "recruitment_pause",
    "recruitment_publish",
    "recruitment_refresh",
    "recruitment_resume",
    "recruitment_stop",
    "recruitment_update",
    "recruitments_due",
    "stay_decline",
    "stay_end",
    "stay_turned_away",
    "submissions_approve",
    "submissions_ask_return",
    "submissions_reject",
    "turn",
]
