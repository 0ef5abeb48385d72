"""The glossary: each word that pages use in a sense of their own, once. The first five are the words of every page."""

from typing import NamedTuple

from django.utils.text import slugify


class Term(NamedTuple):
    name: str
    definition: str
    where: str  # the pages that use it
    source: str  # the document, with the heading, that says more

    @property
    def anchor(self) -> str:
        return slugify(self.name)


FIVE = (
    Term(
        "Item",
        "What is answered: one conversation or input of a data set, as raters and systems see it. A data set is "
        "a list of items.",
        "Data sets, the rater's pages, score runs",
        "data-formats#data-sets",
    ),
    Term(
        "Response",
        "One text for one item, by a system or a person. Identical texts for an item are one response: rated "
        "once, credited to all who gave it.",
        "Data sets, campaigns, releases",
        "data-formats#identical-texts",
    ),
    Term(
        "Rating",
        "The value that one rater gave one response on one criterion, or the reason why the rater could not judge. "
        "It is never deleted or changed; a correction is added beside it.",
        "Campaigns, responses, downloads",
        "methods#ratings-to-weights",
    ),
    Term(
        "Slot",
        "Room for one answer: an item of a campaign that needs five raters has five slots, and each is filled by "
        "another rater.",
        "Campaigns, the monitor, hand-out",
        "hand-out#words",
    ),
    Term(
        "Rater",
        "A person who rates, known by a pseudonym. Raters have a link, no account.",
        "Campaigns, quality, recruitment",
        "raters#the-pages-in-order",
    ),
)
FIELD = (
    Term(
        "Agreement",
        "How far raters give the same response the same value, beyond chance: Krippendorff's alpha, intraclass "
        "correlation, Cohen's kappa.",
        "Campaign overview, releases, methods paragraph",
        "methods#between-raters",
    ),
    Term(
        "Alpha (Krippendorff)",
        "Agreement of any number of raters with any number of missing ratings. 1 is perfect, 0 is what chance "
        "gives, below 0 is systematic disagreement.",
        "Campaign overview, releases",
        "methods#between-raters",
    ),
    Term(
        "Below plan",
        "Responses with fewer judgements than the campaign asks for, since raters skipped them, could not judge "
        "them, or were excluded.",
        "Campaign overview",
        "quality#the-monitor",
    ),
    Term(
        "Campaign",
        "A question put to raters: criteria, a scale, the responses to rate, and how many ratings each gets. Its "
        "design is fixed when it is launched.",
        "Campaigns",
        "campaigns/designing#the-steps",
    ),
    Term(
        "Check",
        "An item that tests the rater, not the response: its right answer is known, or the rater has answered it "
        "before. Answers to checks are no ratings.",
        "Design of a campaign, raters",
        "methods#one-rater",
    ),
    Term(
        "Content hash",
        "A SHA-256 over content alone: two data sets, releases, runs or studies with equal hashes hold the same, "
        "whatever installation they are on.",
        "Data sets, releases, imported projects",
        "moving-data#a-data-set",
    ),
    Term(
        "Correlation",
        "How far a metric orders or spaces texts as people do: Spearman's ρ, Kendall's τ, Pearson's r or Somers' "
        "d, from −1 to +1.",
        "Studies, score runs",
        "methods#sampled-unit-correlation",
    ),
    Term(
        "Corpus",
        "Conversations, indexed on disk, that are searched for candidate references.",
        "Mining",
        "mining#reading-a-corpus",
    ),
    Term(
        "Criterion",
        "One question that raters answer about a response, such as relevance or fluency, on one scale.",
        "Campaigns, ratings, releases",
        "campaigns/designing#the-steps",
    ),
    Term(
        "Design",
        "The data set, raters, slots, checks and seed that a campaign was launched with, and a hash over all "
        "that its items show.",
        "Campaign › Design",
        "hand-out#launch",
    ),
    Term(
        "Distinct responses",
        "The texts of an item, outputs of systems and references together, each counted once, however many gave it. "
        "A text given for two items is two responses.",
        "Data sets, counts of an import",
        "data-formats#identical-texts",
    ),
    Term(
        "Dry run",
        "A campaign played through on a copy by simulated raters, to see duration, cost and agreement before "
        "people are paid.",
        "Campaign › Dry runs",
        "dry-run#what-happens",
    ),
    Term(
        "Excluded rater",
        "A rater whose ratings stay in the log but count in no weight and no statistic, by a decision with a reason.",
        "Raters, quality rules",
        "quality#raters",
    ),
    Term(
        "ICC",
        "Intraclass correlation: the share of the variance of ratings that lies between responses. ICC(1) is for "
        "one rating, ICC(k) for the mean of k.",
        "Campaign overview, releases",
        "methods#between-raters",
    ),
    Term(
        "Interval",
        "The range that holds the true value in 95 of 100 repetitions: 0.48 [0.41, 0.55]. A wide one says that "
        "there is too little evidence.",
        "Wherever a number is estimated",
        "methods#what-intervals-and-p-values-hold",
    ),
    Term(
        "Kappa (Cohen)",
        "Agreement of raters beyond chance, over all their pairs together; weighted, so that a near miss counts "
        "less than a far one.",
        "Campaign overview, raters",
        "methods#between-raters",
    ),
    Term(
        "Margin of error",
        "Half the width of a 95% interval: a weight of 0.60 with a margin of 0.15 lies between 0.45 and 0.75.",
        "Campaign overview, releases",
        "methods#a-campaign",
    ),
    Term(
        "Metric",
        "A formula that scores a text, or a system's texts, without a person: BLEU, ΔBLEU, chrF, METEOR and others.",
        "Scores, playground, studies",
        "metrics",
    ),
    Term(
        "Notification",
        "An e-mail or webhook to a member who chose to hear of something: a campaign is full, a study ended. A message "
        "is another thing: what a response answers.",
        "Members › Notifications",
        "notifications",
    ),
    Term(
        "Output",
        "A response that a system gave. Papers call it a hypothesis or a candidate.",
        "Scores, studies, campaigns",
        "data-formats#data-sets",
    ),
    Term(
        "Question to raters",
        "What a campaign asks raters about themselves, once, such as their native language. The answers are personal "
        "data: viewers see how often each was given.",
        "Design of a campaign, raters, results",
        "raters#questions-about-the-rater",
    ),
    Term(
        "Reference",
        "A response that metrics compare other texts with. A weighted reference says by its weight how good an "
        "example it is.",
        "References, releases, score runs",
        "releases",
    ),
    Term(
        "Release",
        "A numbered snapshot of the weights of a reference set. It never changes, so that a score can be "
        "computed again.",
        "References, score runs, studies",
        "releases#what-identifies-a-release",
    ),
    Term(
        "Score run",
        "A metric with its parameters, applied to the systems of a data set. The same request is computed once.",
        "Scores",
        "runs#a-new-run",
    ),
    Term(
        "Seed",
        "An item whose original response was rated well enough that references are collected for it.",
        "Mining › Seeds",
        "seeds#selecting",
    ),
    Term(
        "Seed of the random numbers",
        "The number that random choices follow from: the same one gives the same choices again. It has nothing to do "
        "with the seeds of mining.",
        "Campaigns, dry runs, studies",
        "methods#sampled-unit-correlation",
    ),
    Term(
        "Segment",
        "The word of files, the API and papers for an item as a metric sees it: one output beside the references of "
        "that item. Pages say item.",
        "The API, files",
        "runs#one-item",
    ),
    Term(
        "Signature",
        "Everything that a score depends on, in one line: metric, parameters, version, references. It lets "
        "another person get the same number.",
        "Scores, studies",
        "scoring#the-request",
    ),
    Term(
        "Study",
        "How far metrics can be trusted: their scores correlated with people's ratings of the same texts, with "
        "intervals and tests.",
        "Studies",
        "methods#sampled-unit-correlation",
    ),
    Term(
        "System",
        "What produced responses: a model, a rule, or the people who wrote references.",
        "Data sets, leaderboard, studies",
        "data-formats#data-sets",
    ),
    Term(
        "Top-up",
        "Further slots for the items where they narrow a difference of two systems most, instead of as many for "
        "every item.",
        "Campaign › Change, the monitor",
        "hand-out#changing-a-running-campaign",
    ),
    Term(
        "Undefined",
        "There is no number, and a reason stands beside it: too few ratings, or all values equal. It is never "
        "written as 0.",
        "Wherever a number can be missing",
        "methods#undefined",
    ),
    Term(
        "Unit (of observation)",
        "A group of items over which a study takes one score and one mean rating, because single sentences are "
        "too noisy to correlate.",
        "Studies",
        "methods#sampled-unit-correlation",
    ),
    Term(
        "Weight",
        "How good an example a reference is, from −1 (what not to say) to +1 (as good as can be), computed from "
        "its ratings.",
        "Releases, responses, ΔBLEU",
        "methods#ratings-to-weights",
    ),
    Term(
        "Written text",
        "What a rater wrote for an item in a campaign: a reference, or a correction of a response. Other raters rate "
        "it; no rater is handed their own.",
        "Campaign › Texts",
        "raters#texts-that-raters-write",
    ),
)
TERMS = {term.anchor: term for term in (*FIVE, *FIELD)}
