"""A paragraph for a paper's methods section, written from the record; every sentence names the page of its numbers."""

import math
from collections.abc import Iterable
from typing import NamedTuple

from django.conf import settings

from annotation.campaigns.design.writing import Writing
from annotation.core.latex import escape
from annotation.core.numbers import counted as count
from annotation.core.one_line import one_line
from annotation.models import Campaign
from annotation.records.selectors.facts import CriterionFacts, Facts
from annotation.records.services import wording


class Sentence(NamedTuple):
    """``source`` names the page that shows the numbers: design, raters, ratings, quality, payment, audit."""

    text: str
    source: str


def _sentences(texts: Iterable[str], source: str) -> list[Sentence]:
    return [Sentence(text, source) for text in texts]


def methods_sentences(facts: Facts) -> list[Sentence]:
    if facts.campaign.imported:
        return [*_material(facts), *_imported(facts), *_agreements(facts)]
    return [
        *_material(facts),
        *_collection(facts),
        *_sentences(wording.checked(facts), "quality"),
        *_agreements(facts),
        *_sentences(wording.paid(facts.payment), "payment"),
        *_versions(facts),
    ]


def _material(facts: Facts) -> list[Sentence]:
    campaign = facts.campaign
    systems = f" of {count(len(facts.systems), 'system')}" if facts.systems else ""
    rated = (
        f"Raters judged {count(facts.responses, 'response')}{systems} to {count(facts.items, 'item')} of the data set "
        f"{campaign.dataset.name} (language: {campaign.dataset.language})."
    )
    criteria = [
        f"{each.name} (“{each.question}”), {each.scale.sentence}{wording.of_turns(each)}"
        for each in campaign.criteria.all()
    ]
    writing = Writing.lenient(campaign.writing)
    if writing.hides_text:
        rated = (
            f"Raters wrote about {count(facts.items, 'item')} of the data set {campaign.dataset.name} (language: "
            f"{campaign.dataset.language}); they saw no response."
        )
    texts = [rated]
    if campaign.response_list is not None:
        listed = count(campaign.response_list.responses.count(), "response")
        texts.append(f"The responses were chosen one by one, in a list of {listed}.")
    if criteria:
        texts.append(f"They were asked about {'; '.join(criteria)}.")
    if campaign.imported:
        return _sentences(texts, "design")
    k, kind = campaign.ratings_per_unit, campaign.presentation_kind
    is_even = facts.slots == k * facts.units
    n_answers = f"{count(k, 'answer')} to each" if is_even else f"{count(facts.slots, 'answer')} in all"
    saw = "one item at a time" if writing.hides_text else f"{kind.sentence}, {count(facts.units, kind.noun)} in all"
    texts.append(f"They saw {saw}. The target was {n_answers}, from different raters.")
    sentences = _sentences(texts, "design")
    if kind.shows_several:
        order = (
            "The order on screen was drawn from a stored seed and balanced: over the answers to an item, a response "
            "took each position as often as every other, to within one answer."
        )
        if not kind.keeps_lists:  # every list shows every system
            order += " Items were interleaved so that raters met one system in a run as seldom as possible."
        sentences.append(Sentence(order, "presentations"))
    return sentences


def _collection(facts: Facts) -> list[Sentence]:
    sentences = [Sentence(wording.recruited(facts), "raters"), *_sentences(wording.trained(facts), "design")]
    sentences += _sentences(wording.asked(facts), "raters")
    sentences += _sentences(wording.written(facts), "design")
    if not facts.raters_counted and facts.campaign.writing:
        return sentences
    if not facts.raters_counted:
        return [*sentences, Sentence("No ratings that count have been collected yet.", "ratings")]
    return [*sentences, *_answers(facts)]


def _imported(facts: Facts) -> list[Sentence]:
    """Describe imported ratings; how they were collected is not in the record."""
    source = (
        f"The judgements were collected elsewhere and imported into Assay {settings.VERSION}; how raters were "
        "recruited, prepared, checked and paid is not in the record."
    )
    return [Sentence(source, "design"), *(_answers(facts) if facts.raters_counted else [])]


def _answers(facts: Facts) -> list[Sentence]:
    return [Sentence(_took_part(facts), "raters"), *_sentences(_log(facts), "ratings")]


def _took_part(facts: Facts) -> str:
    if facts.campaign.unknown_raters:
        return f"The number of raters is {facts.campaign.unknown_raters}."
    fewest, median, most = facts.per_rater
    counted = "" if facts.raters_counted == facts.raters_joined else f"; the ratings of {facts.raters_counted:,} count"
    each = count(most, "item") if fewest == most else f"{fewest:,} to {most:,} items (median {median:g})"
    return f"{count(facts.raters_joined, 'rater')} took part{counted}, each answering {each}."


def _log(facts: Facts) -> list[str]:
    late = f" Another {count(facts.late, 'answer')} came late: stored, but not counted." if facts.late else ""
    corrected = f", {count(facts.superseded, 'correction')} included" if facts.superseded else ""
    answers = f"{count(facts.judgements, 'answer')} {'was' if facts.judgements == 1 else 'were'} received"
    texts = [f"{_between(facts)}{answers}, with {count(facts.ratings, 'rating')} in the log{corrected}.{late}"]
    if facts.campaign.cannot_judge_reasons:
        n_unjudged = sum(each.n_cannot_judge for each in facts.criteria)
        texts.append(f"In {count(n_unjudged, 'rating')} the rater said that the response could not be judged.")
    if facts.replaced:
        texts.append(f"The slots of {count(facts.replaced, 'further answer')} were given to other raters later.")
    if math.isfinite(facts.median_seconds):
        texts.append(f"The median time on an item was {wording.number(facts.median_seconds, 1)} s.")
    return texts


def _between(facts: Facts) -> str:
    if facts.first_at is None or facts.last_at is None:
        return ""
    first, last = f"{facts.first_at:%-d %B %Y}", f"{facts.last_at:%-d %B %Y}"
    return f"On {first}, " if first == last else f"Between {first} and {last}, "


def _agreements(facts: Facts) -> list[Sentence]:
    return _sentences((_agreement(each) for each in facts.criteria if each.n_ratings), "quality")


def _agreement(facts: CriterionFacts) -> str:
    spread = f" (standard deviation {wording.number(facts.sd)})" if math.isfinite(facts.sd) else ""
    again = "" if facts.repeated.n == 0 else f" Within raters, {wording.consistency(facts)}."
    agreement = f"{wording.agreement(facts)}{facts.criterion.scale.agreement_note}"
    return (
        f"For {facts.criterion.name}, {count(facts.n_ratings, 'rating')} count, with a mean of "
        f"{wording.number(facts.mean)}{spread}; {agreement}.{again}"
    )


def _versions(facts: Facts) -> list[Sentence]:
    campaign = facts.campaign
    software = f"Ratings were collected with Assay {settings.VERSION}"
    if not campaign.launched_at:
        return [Sentence(f"{software}; the campaign is a draft, its design not yet frozen.", "design")]
    frozen = (
        f"{software}; the design was frozen at launch on {campaign.launched_at:%-d %B %Y} (SHA-256 "
        f"{campaign.design_hash}); all random choices follow from the random seed {campaign.seed}."
    )
    if not facts.amendments:
        return [Sentence(frozen, "design"), Sentence("It was not amended afterwards.", "audit")]
    amended = "; ".join(f"{number}. {kind.lower()}" for number, kind in facts.amendments)
    return [Sentence(frozen, "design"), Sentence(f"It was amended afterwards: {amended}.", "audit")]


def methods_text(facts: Facts) -> str:
    return one_line(" ".join(sentence.text for sentence in methods_sentences(facts)))


def methods_latex(facts: Facts) -> str:
    """Return the paragraph in LaTeX with its citations; ``methods_bibtex`` has their entries."""
    text = escape(methods_text(facts))
    for word, key in CITED:
        text = text.replace(word, rf"{word}~\cite{{{key}}}", 1)
    return text + "\n"


CITED = (
    ("Krippendorff's $\\alpha$", "krippendorff2011"),
    ("ICC(k)", "shroutfleiss1979"),
)


def methods_bibtex(campaign: Campaign) -> str:
    year = campaign.launched_at.year if campaign.launched_at else ""
    return BIBTEX.replace("VERSION", settings.VERSION).replace("YEAR", str(year))


BIBTEX = """\
@software{assay,
  title   = {Assay: crowd ratings, reference weights, metrics, and how far to trust them},
  author  = {{The Assay developers}},
  version = {VERSION},
  note    = {Campaign of YEAR}
}

@inproceedings{belz-thomson-2025-heds,
  title     = {{HEDS} 3.0: The Human Evaluation Data Sheet Version 3.0},
  author    = {Belz, Anya and Thomson, Craig},
  booktitle = {Proceedings of the Fourth Workshop on Generation, Evaluation and Metrics (GEM$^2$)},
  year      = {2025},
  address   = {Vienna, Austria and virtual meeting},
  publisher = {Association for Computational Linguistics},
  pages     = {60--81},
  note      = {arXiv:2412.07940}
}

@techreport{krippendorff2011,
  title       = {Computing {K}rippendorff's Alpha-Reliability},
  author      = {Krippendorff, Klaus},
  institution = {University of Pennsylvania, Annenberg School for Communication},
  year        = {2011}
}

@article{shroutfleiss1979,
  title   = {Intraclass Correlations: Uses in Assessing Rater Reliability},
  author  = {Shrout, Patrick E. and Fleiss, Joseph L.},
  journal = {Psychological Bulletin},
  volume  = {86},
  number  = {2},
  pages   = {420--428},
  year    = {1979}
}
"""
