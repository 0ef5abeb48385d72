"""How far the raters of a campaign agree, in a sentence beside its results."""

from math import isnan

from annotation.core.numbers import decimals, ends_in_words
from annotation.models import Campaign
from annotation.quality.selectors.monitoring.live import campaign_statistics
from annotation.quality.selectors.raters import moment

TENTATIVE, FIRM = 0.667, 0.8  # of alpha: Krippendorff, Content Analysis, 2nd edition, 2004, p. 241
SOURCE = (
    "(Krippendorff, 2004, asks 0.667 of single ratings for tentative conclusions and 0.8 for firm ones; means of "
    "several ratings are more reliable.)"
)


def reading(alpha: float) -> str:
    """Return in words how much agreement that is.

    >>> reading(0.21), reading(0.7)
    ('too little to rely on single ratings', 'enough for tentative conclusions from single ratings')
    """
    if alpha >= FIRM:
        return "enough to rely on single ratings"
    return (
        "enough for tentative conclusions from single ratings"
        if alpha >= TENTATIVE
        else "too little to rely on single ratings"
    )


def rater_agreement(campaign: Campaign) -> str:
    """Return the sentence, from the statistics that the monitor shows; empty while a worker computes them."""
    statistics, _ = campaign_statistics(campaign, moment(campaign))
    known = [each for each in statistics.criteria if not isnan(each.alpha.alpha)] if statistics else []
    if not known:
        return ""
    readings = [reading(each.alpha.alpha) for each in known]
    is_one = len(set(readings)) == 1
    parts = []
    for criterion, words in zip(known, readings, strict=True):
        alpha = criterion.alpha
        interval = "" if isnan(alpha.low) else f" [{', '.join(ends_in_words(alpha.low, alpha.high))}]"
        about = f" on {criterion.name}" if len(known) > 1 else ""
        about += "" if is_one else f" ({words})"
        parts.append(f"α\u00a0=\u00a0{decimals(alpha.alpha)}{interval}{about}")
    read_as = f", {readings[0]}" if is_one else ""
    return f"Raters agree with Krippendorff's {'; '.join(parts)}{read_as}. {SOURCE}"
