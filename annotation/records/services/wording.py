"""The record's facts in words, shared by the datasheet and the methods paragraph."""

import math
from collections.abc import Sequence

from annotation.campaigns.design.quality import CHECKS, QualificationDesign, QualityDesign
from annotation.campaigns.design.questionnaire import WHEN, Questionnaire
from annotation.campaigns.design.writing import NOTE, REFUSE, WARN, Writing
from annotation.core.numbers import counted as count
from annotation.core.numbers import decimals
from annotation.core.prose import enumerated
from annotation.models import Admission, Campaign, Criterion
from annotation.rating.selectors.questions import AnswerCounts
from annotation.records.selectors.facts import CriterionFacts, Facts, Share
from annotation.records.selectors.payment import Payment
from annotation.recruitment.providers import PROVIDERS
from annotation.weighting.exclusion.registry import rules_from_data


def number(value: float, digits: int = 2) -> str:
    """Format a number with a true minus sign, or "undefined"."""
    return decimals(value, digits) if math.isfinite(value) else "undefined"


def interval(value: float, low: float, high: float, reason: str = "", digits: int = 2) -> str:
    if not math.isfinite(value):
        return f"undefined ({reason or 'no data'})"
    if not (math.isfinite(low) and math.isfinite(high)):
        return number(value, digits)
    return f"{number(value, digits)} [{number(low, digits)}, {number(high, digits)}]"


def share(hits: Share) -> str:
    if hits.n == 0:
        return "none"
    percent, low, high = (100 * value for value in (hits.share, hits.low, hits.high))
    return f"{hits.hits:,} of {hits.n:,} ({percent:.1f}% [{low:.1f}, {high:.1f}])"


def listed(words: Sequence[str]) -> str:
    return enumerated(words) if words else "none"


def recruited(facts: Facts) -> str:
    campaign = facts.campaign
    if campaign.imported:
        return "The judgements were collected elsewhere and imported; how raters were recruited is not in the record."
    ways = [f"through {PROVIDERS[key].label}" for key in facts.providers]
    if not ways or (facts.by_link and campaign.admission != Admission.PROVIDER):
        ways.append(Admission(campaign.admission).in_records)
    return f"Raters came {listed(ways)}."


def trained(facts: Facts) -> list[str]:
    """Describe consent, instructions, training and test, also those that were absent."""
    campaign = facts.campaign
    if campaign.imported:
        return ["The judgements were imported; how they were collected is not in the record."]
    design = QualificationDesign.from_dict(campaign.qualification)
    test = (
        f"They had to pass a qualification test of {count(len(design.test), 'item')} with at least "
        f"{100 * design.pass_mark:g}% right, in at most {count(design.attempts, 'attempt')}; "
        f"{count(facts.raters_failed, 'rater')} failed it."
    )
    return [
        "Raters had to agree to a consent text before the first item."
        if campaign.consent
        else "No consent text was shown.",
        "They were shown written instructions, which they could open again with every item."
        if campaign.instructions
        else "They were given no instructions beyond the question itself.",
        f"They worked through {count(len(design.training), 'training item')} with feedback."
        if design.training
        else "There was no training.",
        test if design.test else "There was no qualification test.",
    ]


def asked(facts: Facts) -> list[str]:
    """Describe what raters were asked about themselves, and how often each answer was given."""
    if not facts.about_raters:
        return []
    when = WHEN[Questionnaire.lenient(facts.campaign.questions).when].lower()
    n = facts.about_raters[0].asked
    questions = count(len(facts.about_raters), "question")
    return [
        f"Raters were asked {questions} about themselves {when}; {count(n, 'rater')} answered.",
        *map(_answers, facts.about_raters),
    ]


def _answers(counts: AnswerCounts) -> str:
    text = f"“{counts.question.question}”"
    if counts.counts:
        given = "; ".join(f"{value}: {n:,}" for value, n in counts.counts)
        return f"{text} {given} (of {counts.answered:,})."
    if counts.quartiles:
        low, middle, high = counts.quartiles
        return f"{text} median {middle:g}, quartiles {low:g} and {high:g} (of {counts.answered:,})."
    return f"{text} answered by {counts.answered:,}."


def written(facts: Facts) -> list[str]:
    """Describe what raters wrote, and what followed from copies and pasted texts."""
    writing = Writing.lenient(facts.campaign.writing)
    if not writing.asks:
        return []
    what = "wrote a reference of their own for each item" if writing.hides_text else "corrected the response shown"
    followed = {NOTE: "noted", WARN: "met with a warning", REFUSE: "refused"}
    return [
        f"Raters {what}, of {writing.least:,} to {writing.most:,} characters; {count(facts.written, 'text')} in all.",
        f"Copies of what was shown were {followed[writing.copies]}, pasted texts {followed[writing.pastes]}.",
    ]


def checked(facts: Facts) -> list[str]:
    """Describe quality control, its results, and the measures that were absent."""
    campaign = facts.campaign
    if campaign.imported:
        return ["The judgements were imported; checks made while they were collected are not in the record."]
    design = QualityDesign.from_dict(campaign.quality)
    sentences = []
    if design.every:
        kinds = listed([check.in_records for kind, check in CHECKS.items() if kind in design.mix])
        sentences.append(f"One item in every {design.every} was a check that looked like work: {kinds}.")
        for kind, check in CHECKS.items():
            if screens := facts.screens.get(kind):
                inside = f", {share(screens.within)} of the answers inside the accepted range" if screens.within else ""
                was = "was" if screens.answered == 1 else "were"
                sentences.append(
                    f"{count(screens.answered, 'item')} with {check.in_records} {was} answered by "
                    f"{count(screens.raters, 'rater')}{inside}."
                )
    else:
        sentences.append("No checks were mixed into the work.")
    return [*sentences, _rules(facts), _excluded(facts)]


def _rules(facts: Facts) -> str:
    if not facts.rules_versions:
        return "No rules about raters were registered."
    when = "before launch" if facts.rules_before_launch else "after launch only"
    more = f", in {facts.rules_versions} versions, of which the newest says" if facts.rules_versions > 1 else ""
    newest = facts.campaign.rule_versions.order_by("-version").first()
    sentences = [rule.sentence.rstrip(".") for rule in rules_from_data(newest.rules)] if newest else []
    return f"Rules about raters were registered {when}{more}{': ' if sentences else ''}{'; '.join(sentences)}."


def _excluded(facts: Facts) -> str:
    if not facts.excluded:
        return "No rater was excluded."
    by = facts.excluded_by_rules
    how = "by the rules" if by == facts.excluded else "by hand" if by == 0 else f"{by:,} of them by the rules"
    return (
        f"{count(facts.excluded, 'rater')} {'was' if facts.excluded == 1 else 'were'} excluded, {how}; "
        f"their {count(facts.excluded_answers, 'answer')}, with {count(facts.excluded_ratings, 'rating')}, stay in the "
        "log and are left out of all numbers here."
    )


def agreement(facts: CriterionFacts) -> str:
    alpha, icc = facts.alpha, facts.icc
    if alpha.reason and icc.reason:
        return f"agreement is undefined ({alpha.reason})"
    compared = "turns" if facts.criterion.by_turn else facts.criterion.scale.compared
    measured = (
        f"Krippendorff's α ({alpha.level}) is {interval(alpha.alpha, alpha.low, alpha.high, alpha.reason)} over "
        f"{alpha.n_responses:,} {compared} with two raters or more"
    )
    if icc.reason:
        return f"{measured}; ICC(1) is undefined ({icc.reason})"
    return (
        f"{measured}; ICC(1) is {interval(icc.icc_1, icc.icc_1_low, icc.icc_1_high)} and ICC(k) is "
        f"{interval(icc.icc_k, icc.icc_k_low, icc.icc_k_high)} for k = {number(icc.k, 1)}"
    )


def of_turns(criterion: Criterion) -> str:
    """Return what is said of a criterion about turns, after its scale."""
    return ", for each turn of the system" if criterion.by_turn else ""


def consistency(facts: CriterionFacts) -> str:
    if facts.repeated.n == 0:
        return "not assessed: no item was answered twice by one rater"
    return (
        f"{share(facts.repeated)} repeated answers equal the first ones; the mean absolute difference "
        f"is {number(facts.repeat_difference)}"
    )


def paid(payment: Payment | None) -> list[str]:
    if payment is None:
        return ["No payment is in the record."]
    money = payment.currency
    people = count(payment.raters, "rater")
    if payment.source == "provider":
        first = (
            f"{people} {'was' if payment.raters == 1 else 'were'} paid {number(payment.total)} {money} in all, as the "
            f"provider reports, bonuses of {number(payment.bonus)} {money} included."
        )
        clock = "from the start to the end of a stay at the provider"
    else:
        first = (
            f"Raters were to be paid {payment.per_unit:g} {money} for each item answered, "
            f"{number(payment.total)} {money} in all for {people}; payments made are not in the record."
        )
        clock = "from shown to sent, over all items answered"
    sentences = [first]
    if math.isfinite(payment.hourly):
        sentences.append(
            f"That is {number(payment.hourly)} {money} an hour (median over raters {number(payment.hourly_median)}, "
            f"lowest {number(payment.hourly_lowest)}; time measured {clock})."
        )
    return sentences


def work_limits(campaign: Campaign) -> list[str]:
    limits = []
    if campaign.min_units_per_rater:
        limits.append(f"at least {count(campaign.min_units_per_rater, 'item')} for a completion code")
    if campaign.max_units_per_rater:
        limits.append(f"at most {count(campaign.max_units_per_rater, 'item')} by one rater")
    if campaign.seconds_between_units:
        limits.append(f"at least {campaign.seconds_between_units:,} s from one item to the next")
    return limits
