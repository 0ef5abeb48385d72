"""How far the raters of a campaign agree, in a sentence beside its results."""

from math import isnan

from annotation.core.numbers import decimals
from annotation.models import Campaign
from annotation.quality.selectors.monitoring.live import campaign_statistics
from annotation.quality.selectors.raters import moment


def rater_agreement(campaign: Campaign) -> str:
    """Return the sentence, from the statistics that the monitor shows; empty while a worker computes them."""
    statistics, _ = campaign_statistics(campaign, moment(campaign))
    known = [each for each in statistics.criteria if not isnan(each.alpha.alpha)] if statistics else []
    if not known:
        return ""
    parts = []
    for criterion in known:
        alpha = criterion.alpha
        interval = "" if isnan(alpha.low) else f" [{decimals(alpha.low)}, {decimals(alpha.high)}]"
        about = f" on {criterion.name}" if len(known) > 1 else ""
        parts.append(f"α\u00a0=\u00a0{decimals(alpha.alpha)}{interval}{about}")
    return f"Raters agree with Krippendorff's {'; '.join(parts)}."
