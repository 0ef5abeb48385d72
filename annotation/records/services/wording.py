"""The record's facts in words, shared by the datasheet and the methods paragraph."""

import math
from collections.abc import Sequence

from annotation.campaigns.design.quality import QualificationDesign, QualityDesign
from annotation.models import Admission, Campaign
from annotation.records.selectors.facts import CriterionFacts, Facts, Share
from annotation.records.selectors.payment import Payment
from annotation.recruitment.providers import PROVIDERS

PURPOSES = {
    "gold": "texts with a known answer",
    "attention": "attention checks",
    "repeat": "repeats of the rater's own earlier screens",
    "degraded": "degraded texts",
    "anchor": "human references as high anchors",
}


def figure(value: float, digits: int = 2) -> str:
    """Format a number with a true minus sign, or "undefined"."""
    return f"{value:,.{digits}f}".replace("-", "−") if math.isfinite(value) else "undefined"


def interval(value: float, low: float, high: float, reason: str = "", digits: int = 2) -> str:
    if not math.isfinite(value):
        return f"undefined ({reason or 'no data'})"
    if not (math.isfinite(low) and math.isfinite(high)):
        return figure(value, digits)
    return f"{figure(value, digits)} [{figure(low, digits)}, {figure(high, digits)}]"


def share(found: Share) -> str:
    if found.n == 0:
        return "none"
    low, high = (100 * end for end in (found.low, found.high))
    return f"{found.hits:,} of {found.n:,} ({100 * found.share:.1f}% [{low:.1f}, {high:.1f}])"


def count(n: int, one: str, many: str = "") -> str:
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else "none"


def recruited(facts: Facts) -> str:
    campaign = facts.campaign
    if campaign.imported:
        return "The judgements were collected elsewhere and imported; how raters were recruited is not in the record."
    ways = [f"through {PROVIDERS[one].label}" for one in facts.providers]
    link = {
        Admission.OPEN: "by an open direct link",
        Admission.NAMED: "by a direct link, giving a name",
        Admission.ACCOUNT: "by a direct link, signing in with an account",
        Admission.PROVIDER: "through a provider alone",
    }[Admission(campaign.admission)]
    if not ways or (facts.by_link and campaign.admission != Admission.PROVIDER):
        ways.append(link)
    return f"Raters came {listed(ways)}."


def trained(facts: Facts) -> list[str]:
    """Describe consent, instructions, training and test, also those that were absent."""
    campaign = facts.campaign
    if campaign.imported:
        return ["The judgements were imported; what came before them is not in the record."]
    design = QualificationDesign.from_dict(campaign.qualification)
    said = []
    if campaign.consent:
        said.append("Raters had to agree to a consent text before the first screen.")
    else:
        said.append("No consent text was shown.")
    if campaign.instructions:
        said.append("They were shown written instructions, which stayed one key away.")
    else:
        said.append("They were given no instructions beyond the question itself.")
    if design.training:
        said.append(f"They worked through {count(len(design.training), 'training screen')} with feedback.")
    else:
        said.append("There was no training.")
    if design.test:
        said.append(
            f"They had to pass a qualification test of {count(len(design.test), 'screen')} with at least "
            f"{100 * design.pass_mark:g}% right, in at most {count(design.attempts, 'attempt')}; "
            f"{count(facts.raters_failed, 'rater')} failed it."
        )
    else:
        said.append("There was no qualification test.")
    return said


def checked(facts: Facts) -> list[str]:
    """Describe quality control, its results, and the measures that were absent."""
    campaign = facts.campaign
    if campaign.imported:
        return ["The judgements were imported; checks made while they were collected are not in the record."]
    design = QualityDesign.from_dict(campaign.quality)
    said = []
    if design.every:
        kinds = listed([PURPOSES[kind] for kind in PURPOSES if kind in design.mix])
        said.append(f"One screen in every {design.every} was a check that looked like work: {kinds}.")
        for kind in PURPOSES:
            if found := facts.screens.get(kind):
                inside = f", {share(found.within)} of the answers inside the accepted range" if found.within else ""
                said.append(
                    f"{count(found.answered, 'screen')} with {PURPOSES[kind]} "
                    f"{'was' if found.answered == 1 else 'were'} answered by {count(found.raters, 'rater')}{inside}."
                )
    else:
        said.append("No checks were mixed into the work.")
    return [*said, *_rules(facts), _excluded(facts)]


def _rules(facts: Facts) -> list[str]:
    if not facts.rules_versions:
        return ["No rules about raters were registered."]
    when = "before launch" if facts.rules_before_launch else "after launch only"
    more = f", in {facts.rules_versions} versions" if facts.rules_versions > 1 else ""
    return [f"Rules about raters were registered {when}{more}."]


def _excluded(facts: Facts) -> str:
    if not facts.excluded:
        return "No rater was excluded."
    by = facts.excluded_by_rules
    how = "by the rules" if by == facts.excluded else "by hand" if by == 0 else f"{by:,} of them by the rules"
    return (
        f"{count(facts.excluded, 'rater')} {'was' if facts.excluded == 1 else 'were'} excluded, {how}; "
        f"their {count(facts.excluded_judgements, 'judgement')} stay in the log and are left out of all numbers here."
    )


def agreement(found: CriterionFacts) -> str:
    alpha, icc = found.alpha, found.icc
    if alpha.reason and icc.reason:
        return f"agreement is undefined ({alpha.reason})"
    measured = (
        f"Krippendorff's α ({alpha.level}) is {interval(alpha.alpha, alpha.low, alpha.high, alpha.reason)} over "
        f"{alpha.n_responses:,} {found.criterion.scale.compared} with two raters or more"
    )
    if icc.reason:
        return f"{measured}; ICC(1) is undefined ({icc.reason})"
    return (
        f"{measured}; ICC(1) is {interval(icc.icc_1, icc.icc_1_low, icc.icc_1_high)} and ICC(k) is "
        f"{interval(icc.icc_k, icc.icc_k_low, icc.icc_k_high)} for k = {figure(icc.k, 1)}"
    )


def consistency(found: CriterionFacts) -> str:
    if found.repeated.n == 0:
        return "not assessed: no screen was answered twice by one rater"
    return (
        f"{share(found.repeated)} of the repeated answers are exactly the first ones; their mean absolute difference "
        f"is {figure(found.repeat_difference)}"
    )


def paid(found: Payment | None) -> list[str]:
    if found is None:
        return ["No payment is in the record."]
    money = found.currency
    people = count(found.raters, "rater")
    if found.source == "provider":
        first = (
            f"{people} {'was' if found.raters == 1 else 'were'} paid {figure(found.total)} {money} in all, as the "
            f"provider reports, bonuses of {figure(found.bonus)} {money} included."
        )
        clock = "from the start to the end of a stay at the provider"
    else:
        first = (
            f"Raters were to be paid {found.per_unit:g} {money} for each screen answered, "
            f"{figure(found.total)} {money} in all for {people}; payments made are not in the record."
        )
        clock = "from shown to sent, over all screens answered"
    said = [first]
    if math.isfinite(found.hourly):
        said.append(
            f"That is {figure(found.hourly)} {money} an hour (median over raters {figure(found.hourly_median)}, lowest "
            f"{figure(found.hourly_lowest)}; time measured {clock})."
        )
    return said


def limits(campaign: Campaign) -> list[str]:
    said = []
    if campaign.min_units_per_rater:
        said.append(f"at least {count(campaign.min_units_per_rater, 'screen')} for a completion code")
    if campaign.max_units_per_rater:
        said.append(f"at most {count(campaign.max_units_per_rater, 'screen')} by one rater")
    if campaign.seconds_between_units:
        said.append(f"at least {campaign.seconds_between_units:,} s from one screen to the next")
    return said
