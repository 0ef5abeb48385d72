"""What a rater meets: landing, instructions, one screen after the other, a last page. No account: a signed cookie."""

from annotation.rating.views.entry import rater_consent, rater_instructions, rater_landing, rater_language
from annotation.rating.views.work import (
    rater_break,
    rater_draft,
    rater_feedback,
    rater_result,
    rater_return,
    rater_submit,
    rater_work,
)

__all__ = [
    "rater_break",
    "rater_consent",
    "rater_draft",
    "rater_feedback",
    "rater_instructions",
    "rater_landing",
    "rater_language",
    "rater_result",
    "rater_return",
    "rater_submit",
    "rater_work",
]
