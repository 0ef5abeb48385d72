"""Answers to the datasheet's questions from the record."""

import math
from dataclasses import dataclass

from django.conf import settings

from annotation.campaigns.design.quality import QualificationDesign, QualityDesign
from annotation.campaigns.design.writing import Writing
from annotation.core.numbers import counted as count
from annotation.core.prose import enumerated
from annotation.models import Campaign, CommentField, Target
from annotation.records.selectors.facts import CriterionFacts, Facts
from annotation.records.services import wording

AUTOMATIC, EXCLUDED, OTHER_CHECK, NO_CHECK = 2, 4, 6, 7  # of question 3.3.3.1
REPEATS = (
    "Raters were shown screens of their own again, unannounced; share of equal answers with Wilson's 95% interval, and "
    "mean absolute difference."
)


@dataclass(frozen=True)
class Recorded:
    """An answer from the record; unless ``final``, the manager adds what the record cannot know."""

    text: str = ""
    choices: tuple[int, ...] = ()
    final: bool = True


def key_of(number: str, criterion: str = "") -> str:
    return f"{number}:{criterion}" if criterion else number


def recorded_answers(facts: Facts) -> dict[str, Recorded]:
    """Return the answers by the keys of ``key_of``."""
    recorded = {**_experiment(facts), **_evaluators(facts), **_design(facts)}
    for criterion in facts.criteria:
        name = criterion.criterion.name
        answers = {**_scale(criterion), **_agreement(criterion)}
        answers["4.2.2"] = _comparison(facts.campaign, criterion)
        answers["4.3.2"] = _definition(facts.campaign)
        answers["4.3.9"] = _aggregation(facts.campaign)
        recorded |= {key_of(number, name): answer for number, answer in answers.items()}
    return recorded


def _experiment(facts: Facts) -> dict[str, Recorded]:
    campaign = facts.campaign
    language = campaign.dataset.language
    designed = f", design {campaign.design_hash[:16]}…" if campaign.design_hash and not campaign.imported else ""
    writes = Writing.lenient(campaign.writing).hides_text
    outputs = "; ".join(f"{name}: {n:,}" for name, n in facts.systems.items()) or "no system"
    return {
        "1.1.2": Recorded(
            f"Campaign “{campaign.name}” on the data set {campaign.dataset.name}{designed}.", final=False
        ),
        "2.4": Recorded(f"{language} (the language declared for the data set)."),
        "2.5": Recorded(f"{language} (the language declared for the data set)."),
        "3.1.1": Recorded(
            f"{count(facts.items, 'item')}, for which raters wrote references; they saw no response."
            if writes
            else f"{count(facts.responses, 'response')} to {count(facts.items, 'item')}. By system: "
            f"{outputs}. Identical outputs of several systems are one response, rated once and credited to all."
        ),
        "3.1.2": Recorded(_chosen(campaign), final=False),
    }


def _chosen(campaign: Campaign) -> str:
    if campaign.imported:
        return "The items that the imported judgements are about."
    of = f"the first {campaign.item_limit:,} items" if campaign.item_limit else "all items"
    split = f" of the split {campaign.split}" if campaign.split else ""
    if campaign.response_list is not None:
        listed = count(campaign.response_list.responses.count(), "response")
        confined = f", {of}{split}" if campaign.item_limit or campaign.split else ""
        return (
            f"Of the data set {campaign.dataset.name}: the responses of the list “{campaign.response_list.name}” "
            f"({listed}){confined}."
        )
    return f"Of the data set {campaign.dataset.name}: {Target(campaign.target).in_records}, {of}{split}."


def _evaluators(facts: Facts) -> dict[str, Recorded]:
    answers = {
        "3.2.1": Recorded(facts.campaign.unknown_raters.capitalize() or f"{facts.raters_counted:,}"),
        "3.2.3": Recorded(wording.recruited(facts), final=False),
        "3.2.4": Recorded(" ".join(wording.trained(facts)), final=not facts.campaign.imported),
    }
    if facts.about_raters:
        answers["3.2.5"] = Recorded(" ".join(wording.asked(facts)), final=False)
    if facts.payment is not None:
        answers["3.2.2.2"] = Recorded(" ".join(wording.paid(facts.payment)), (1,))
    return answers


def _design(facts: Facts) -> dict[str, Recorded]:
    campaign = facts.campaign
    if campaign.imported:
        return {"3.3.2": Recorded("Judgements were collected elsewhere and imported into Assay.", final=False)}
    frozen = "The design has not been frozen yet: the campaign is a draft."
    if campaign.launched_at:
        frozen = f"The design was frozen on {campaign.launched_at:%-d %B %Y}, SHA-256 {campaign.design_hash}."
    rules = " Rules about raters were registered before launch." if facts.rules_before_launch else ""
    return {
        "3.3.1": Recorded(f"{frozen}{rules}", final=False),
        "3.3.2": Recorded(f"Web pages of Assay {settings.VERSION}, in the raters' own browsers."),
        "3.3.3.1": Recorded(choices=_assurance(facts), final=False),
        "3.3.3.2": Recorded(
            " ".join([*wording.trained(facts)[2:], *wording.written(facts)[1:], *wording.checked(facts)]), final=False
        ),
        "3.3.4.2": Recorded(_shown(campaign)),
        "3.3.5": _pace(campaign),
        "3.3.6": _feedback(campaign),
        "3.3.7": Recorded("Evaluators use their own browsers.", final=False),
    }


def _assurance(facts: Facts) -> tuple[int, ...]:
    quality = QualityDesign.from_dict(facts.campaign.quality)
    qualification = QualificationDesign.from_dict(facts.campaign.qualification)
    used = {AUTOMATIC: quality.every, EXCLUDED: facts.excluded, OTHER_CHECK: qualification.test}
    return tuple(option for option, value in used.items() if value) or (NO_CHECK,)


def _shown(campaign: Campaign) -> str:
    writing = Writing.lenient(campaign.writing)
    shown = f"With each item {campaign.presentation_kind.sentence}, below its context and message"
    parts = ["The context and message of each item" if writing.hides_text else shown]
    questions = count(campaign.criteria.count(), "question")
    if campaign.criteria.exists():
        scales = "its scale" if campaign.criteria.count() == 1 else "their scales"
        parts.append(f"{questions} with {scales}")
    if writing.asks:
        parts.append(f"a field for a {writing.asks} (“{writing.question}”)")
    if campaign.comment != CommentField.OFF:
        parts.append("a field for a comment")
    if campaign.cannot_judge_reasons:
        parts.append(f"a way to say why a response cannot be judged ({wording.listed(campaign.cannot_judge_reasons)})")
    parts.append("progress")
    if campaign.instructions:
        parts.append("the instructions one key away")
    return f"{enumerated(parts)}. No system is named."


def _pace(campaign: Campaign) -> Recorded:
    lease = f"An item goes to another rater after {campaign.lease_seconds:,} s; an answer sent later is stored."
    if campaign.lease_min_seconds:
        lease = (
            f"An item goes to another rater after a time that follows the campaign's pace, from "
            f"{campaign.lease_min_seconds:,} s to {campaign.lease_max_seconds:,} s; an answer sent later is stored."
        )
    more = wording.work_limits(campaign)
    return Recorded(f"{lease}{' Limits: ' + '; '.join(more) + '.' if more else ''}", (2,))


def _feedback(campaign: Campaign) -> Recorded:
    if campaign.comment == CommentField.OFF:
        return Recorded("There was no field for comments.", final=False)
    return Recorded("Each item had a field for a comment.", (3,), final=False)


def _scale(facts: CriterionFacts) -> dict[str, Recorded]:
    criterion = facts.criterion
    size, values = criterion.scale.sizes
    labels = f" Labels: {', '.join(criterion.labels)}." if criterion.labels else ""
    sentence = f"{criterion.scale.sentence}{wording.of_turns(criterion)}"
    answers = {
        "4.3.1.1": Recorded(criterion.name),
        "4.3.3": Recorded(size),
        "4.3.4": Recorded(values),
        "4.3.5": Recorded(f"As {sentence}.{labels}", criterion.scale.heds_form),
        "4.3.6": Recorded("N/A"),
        "4.3.7": Recorded(criterion.question),
    }
    if criterion.scale.is_relative:
        answers["4.3.8"] = Recorded(choices=(3,))
    return answers


def _comparison(campaign: Campaign, facts: CriterionFacts) -> Recorded:
    if facts.criterion.scale.is_relative:
        return Recorded(choices=(2,))
    if not campaign.presentation_kind.shows_several:
        return Recorded("One response at a time.", (1,))
    return Recorded(f"Shown are {campaign.presentation_kind.sentence}, each rated on its own.", final=False)


def _definition(campaign: Campaign) -> Recorded:
    if not campaign.instructions:
        return Recorded("No definition beyond the question itself.", final=not campaign.imported)
    return Recorded(f"The instructions, word for word: {campaign.instructions}")


def _aggregation(campaign: Campaign) -> Recorded:
    sets = sorted({each.name for each in campaign.reference_sets.all()})
    used = f" Reference weights are computed from them in: {wording.listed(sets)}." if sets else ""
    return Recorded(
        "The latest revision of each rating counts; late ratings and those of excluded raters are left out. A "
        f"response's score is computed from the remaining ratings.{used}",
        final=False,
    )


def _agreement(facts: CriterionFacts) -> dict[str, Recorded]:
    if math.isnan(facts.alpha.alpha) and facts.icc.reason:
        inter = ("InterAA not assessed", f"InterAA not assessed: {facts.alpha.reason or facts.icc.reason}.")
    else:
        how = (
            f"Krippendorff's α for {facts.alpha.level} values over responses with two raters or more; one-way "
            "intraclass correlations ICC(1) and ICC(k) (Shrout & Fleiss 1979), 95% intervals from the F distribution."
        )
        inter = (how, f"{_capital(wording.agreement(facts))}.")
    if facts.repeated.n:
        intra = (REPEATS, f"{_capital(wording.consistency(facts))}.")
    else:
        intra = ("IntraAA not assessed", "IntraAA not assessed: no item was answered twice by one rater.")
    numbers = ("4.3.11.1", "4.3.11.2", "4.3.12.1", "4.3.12.2")
    return {number: Recorded(text) for number, text in zip(numbers, (*inter, *intra), strict=True)}


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
