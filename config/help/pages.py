"""What each page is for, and where the documents say more: a line for each page, found by the name of its view."""

from collections.abc import Sequence
from typing import NamedTuple

from config.help.glossary import TERMS, Term


class Page(NamedTuple):
    views: Sequence[str]  # names of views, or their beginnings; of several that fit, the longest counts
    text: str
    source: str  # document#heading
    methods: str = ""  # where the numbers of the page are defined
    words: Sequence[str] = ()  # anchors of the glossary

    @property
    def terms(self) -> list[Term]:
        return [TERMS[word] for word in self.words]


PAGES = (
    # --- Accounts and projects
    Page(
        ["annotation:project-list", "annotation:project-create"],
        "A project holds data sets, campaigns, scores and studies. Only its members see it.",
        "architecture#the-nouns",
    ),
    Page(
        ["annotation:project-"],
        "Where the project stands, and what comes next: from data sets over ratings and weights to scores and studies.",
        "architecture#the-nouns",
        words=("item", "response", "rating", "slot", "rater"),
    ),
    Page(
        ["annotation:project-delete"],
        "Owners delete a project with everything in it. Download first what you want to keep.",
        "records#deleting-a-project",
    ),
    Page(
        ["annotation:project-export", "annotation:project-import", "annotation:project-import-detail"],
        "A project leaves as one file and enters another Assay, with the same hashes. Accounts and secrets stay.",
        "moving-data#a-project",
        words=("content-hash",),
    ),
    Page(
        ["annotation:dataset-delete", "annotation:campaign-delete", "annotation:deletion-detail"],
        "Owners delete a data set or a campaign with all that depends on it, or nothing. The project's log stays.",
        "records#deleting-a-data-set-or-a-campaign",
    ),
    Page(
        ["annotation:project-members", "annotation:invitation-"],
        "Who works on the project, and in which role. Owners invite others by a link, change roles and remove members.",
        "architecture#the-nouns",
    ),
    Page(
        ["annotation:project-audit", "annotation:campaign-audit"],
        "Who changed what, and when. Entries are never changed or deleted.",
        "records#the-complete-record",
    ),
    Page(
        ["annotation:project-jobs"],
        "Work that takes a while is done by workers: what runs, what waits, and what failed, with the reason. A failed "
        "job is run again from here.",
        "deployment#when-a-job-fails",
    ),
    Page(
        ["annotation:project-notifications"],
        "E-mails and webhooks to you when something in this project ends or needs a decision. Each member chooses "
        "alone; all is off at first.",
        "notifications#what-you-can-choose",
        words=("notification",),
    ),
    Page(
        ["annotation:account-token", "api-docs"],
        "Programs use the API with a token, and can do what its owner can do.",
        "api#a-token",
    ),
    Page(
        ["annotation:account-session"],
        "Each sign-in is a session of two weeks. Here you see where you are signed in, and end what is not yours.",
        "deployment#accounts-and-sessions",
    ),
    Page(
        ["annotation:account-sign-in", "annotation:second-", "annotation:recovery-codes", "annotation:single-sign-on"],
        "A second factor asks for a code of your phone after the password. Recovery codes stand in for a lost phone. "
        "With single sign-on you sign in at your organisation.",
        "deployment#accounts-and-sessions",
    ),
    Page(["password_change"], "A new password ends your sessions elsewhere and all your API tokens.", "api#a-token"),
    # --- Data sets
    Page(
        ["annotation:dataset-", "annotation:item-"],
        "A data set is a list of items with the responses of systems and people. Import one as JSON Lines, CSV, "
        "TSV or Parquet.",
        "data-formats#data-sets",
        words=("item", "response", "system"),
    ),
    Page(
        ["annotation:dataset-outputs"],
        "Outputs of further systems, for items that the data set has. Launched campaigns, score runs and studies keep "
        "what they read.",
        "data-formats#outputs-of-further-systems",
        words=("item", "response", "system"),
    ),
    Page(
        ["annotation:campaign-results", "annotation:results"],
        "Which system is better by the raters, and how sure that is: means or strengths, ranks, and every difference.",
        "results#the-page",
        "methods#results-by-raters",
        words=("rating", "rater", "item"),
    ),
    Page(
        ["annotation:rating-import", "annotation:campaign-import"],
        "Ratings that were made elsewhere, read from a file. They become a closed campaign.",
        "data-formats#ratings",
        words=("rating", "rater", "criterion"),
    ),
    Page(
        ["annotation:response-list-"],
        "A list of responses to rate, or to rate again.",
        "seeds#lists-of-responses",
        words=("response",),
    ),
    Page(
        ["annotation:response-"],
        "One response: its ratings, who gave the text, and the weight that follows.",
        "browsing#two-views-and-a-table",
        "methods#ratings-to-weights",
        ("response", "rating", "weight"),
    ),
    # --- Mining and seeds
    Page(
        ["annotation:corpus-"],
        "A corpus is an index of conversations, searched for candidate references.",
        "mining#reading-a-corpus",
        words=("corpus", "reference"),
    ),
    Page(
        ["annotation:mining-"],
        "A mining run searches a corpus for responses that could be references, and says why each was kept or "
        "left out.",
        "mining#candidates",
        words=("corpus", "seed", "reference"),
    ),
    Page(
        ["annotation:seed-"],
        "Seeds are items whose original response people rated well. References are collected for them.",
        "seeds#selecting",
        words=("seed", "item"),
    ),
    # --- Campaigns
    Page(
        ["annotation:campaign-"],
        "A campaign asks raters about responses. Its overview shows how far it is, how far raters agree, and how "
        "certain the weights are.",
        "quality#the-monitor",
        "methods#agreement-and-rater-quality",
        ("slot", "agreement", "margin-of-error"),
    ),
    Page(
        [
            *("annotation:campaign-list", "annotation:campaign-create", "annotation:campaign-edit"),
            *("annotation:campaign-step", "annotation:campaign-screen", "annotation:campaign-clone"),
            *("annotation:campaign-preview", "annotation:campaign-compare"),
        ],
        "A campaign is designed in steps, previewed as raters see it, and fixed when it is launched.",
        "campaigns/designing#the-steps",
        words=("criterion", "slot", "check"),
    ),
    Page(
        ["annotation:campaign-design"],
        "What the campaign was launched with. It cannot be changed; its hash covers all that raters see.",
        "hand-out#launch",
        words=("design", "slot"),
    ),
    Page(
        ["annotation:campaign-operation"],
        "A running campaign can be extended, topped up where it decides, and its systems stopped and resumed. "
        "Each change is recorded.",
        "hand-out#changing-a-running-campaign",
        words=("slot", "system", "top-up"),
    ),
    Page(
        ["annotation:campaign-rater"],
        "Raters with the evidence about each. Managers exclude, restore and flag them, always with a reason; no "
        "rating is changed.",
        "quality#raters",
        "methods#one-rater",
        ("rater", "excluded-rater", "check"),
    ),
    Page(
        ["annotation:campaign-quality"],
        "Rules that say when a rater is flagged or excluded. They have no effect until you have seen the preview "
        "and apply them.",
        "quality#rules",
        "methods#rules",
        ("excluded-rater", "check"),
    ),
    Page(
        ["annotation:campaign-ratings"],
        "The ratings of the campaign, newest first. A correction stands beside what it corrects.",
        "data-formats#assays-own-log",
        words=("rating", "criterion"),
    ),
    Page(
        ["annotation:campaign-dry-run"],
        "Simulated raters work through a copy of the campaign: what it would cost, how long it would take, "
        "whether its checks find spammers.",
        "dry-run#what-happens",
        "dry-run#the-forecast",
        ("dry-run", "slot"),
    ),
    Page(
        ["annotation:campaign-recruit"],
        "Where raters come from: a link of your own, Prolific or Mechanical Turk, with places, payments and what "
        "arrived.",
        "providers#who-arrives",
        words=("rater",),
    ),
    Page(
        ["annotation:provider-account"],
        "Accounts at providers of raters. Their secrets are stored encrypted and never shown.",
        "providers#where-raters-come-from",
    ),
    Page(
        ["annotation:campaign-record"],
        "What remains of a campaign: the complete record, the methods paragraph for a paper, and the datasheet.",
        "records#the-complete-record",
        words=("agreement", "rating"),
    ),
    Page(
        ["annotation:rater-"],
        "What is stored about one rater, and how to erase it.",
        "records#erasure",
        words=("rater",),
    ),
    # --- References and releases
    Page(
        ["annotation:reference-set-", "annotation:weights-import"],
        "A reference set says which responses are references and whose ratings weigh them. Its releases are "
        "numbered snapshots.",
        "releases#what-identifies-a-release",
        "methods#ratings-to-weights",
        ("reference", "weight", "release"),
    ),
    Page(
        ["annotation:release-"],
        "A release fixes the weights of references. The page shows what they rest on and how certain they are.",
        "releases#what-identifies-a-release",
        "methods#ratings-to-weights",
        ("release", "weight", "interval"),
    ),
    Page(
        ["annotation:release-browse", "metrics:release-item"],
        "References with weights, ratings and texts. Filter by weight, kind, agreement and words; the address "
        "holds the choice.",
        "browsing#search-and-filters",
        "methods#ratings-to-weights",
        ("reference", "weight"),
    ),
    Page(
        ["annotation:release-compare"],
        "What changed between two releases of a set: references, weights and their reasons.",
        "releases#what-changed-between-two-releases",
        words=("release", "weight"),
    ),
    Page(
        ["annotation:release-attention"],
        "References to look at before you rely on the release: uncertain signs, ties, items without a positive "
        "reference.",
        "weighing#needs-attention",
        "methods#needs-attention",
        ("weight", "interval"),
    ),
    Page(
        ["annotation:release-sensitivity"],
        "How far other ways of weighing would move the weights.",
        "weighing#sensitivity",
        "methods#sensitivity",
        ("weight",),
    ),
    Page(
        ["annotation:release-influence"],
        "How far the weights depend on single raters.",
        "weighing#raters",
        "methods#influence-of-a-rater",
        ("weight", "rater"),
    ),
    Page(
        ["annotation:release-guard"],
        "Whether a metric would be judged by the ratings that made its weights.",
        "weighing#circularity",
        "methods#circularity",
        ("release", "study"),
    ),
    # --- Scores
    Page(
        ["metrics:run-list"],
        "Systems by metrics: who is first by each metric, and who cannot be told from the first.",
        "runs#the-leaderboard",
        "methods#what-intervals-and-p-values-hold",
        ("system", "metric", "score-run"),
    ),
    Page(
        ["metrics:run-create"],
        "Choose texts and metrics. A data set's own references need no raters; a release brings weighted references.",
        "runs#a-new-run",
        words=("metric", "reference", "release"),
    ),
    Page(
        ["metrics:run-import"],
        "Scores that another program computed, read from a file, to compare and correlate like any other.",
        "scores-elsewhere#import",
        words=("score-run", "item"),
    ),
    Page(
        ["correlations:run-scale"],
        "On which scale imported scores lie: on a known one they are compared with ratings as they are.",
        "scores-elsewhere#the-scale-of-a-column",
        words=("score-run", "rating", "study"),
    ),
    Page(
        ["metrics:run-metrics"],
        "Each metric: what it reads, its range, which direction is better, its parameters, formula and source.",
        "metrics#names-of-variants",
        words=("metric", "signature"),
    ),
    Page(
        ["metrics:run-segment", "metrics:response-matches"],
        "One item under one metric: each system's text, its matches, and how they become the score.",
        "explaining#reading-the-marks",
        "methods#bleu",
        ("output", "reference", "weight"),
    ),
    Page(
        ["metrics:run-disagreements"],
        "The outputs that metric and raters rank most differently.",
        "runs#against-the-raters",
        words=("metric", "rating"),
    ),
    Page(
        ["metrics:run-compar"],
        "Which systems a metric can tell apart, and how runs differ.",
        "runs#pairs-of-systems",
        "methods#what-intervals-and-p-values-hold",
        ("system", "interval"),
    ),
    Page(
        ["metrics:run-"],
        "The scores of systems with their ranges, places and settings.",
        "runs#scores-and-intervals",
        "methods#what-intervals-and-p-values-hold",
        ("score-run", "signature", "interval"),
    ),
    Page(
        ["metrics:playground"],
        "Try metrics on texts of your own. Nothing is stored.",
        "playground#what-is-shown",
        "methods#bleu",
        ("metric", "reference", "weight"),
    ),
    Page(
        ["metrics:model-"],
        "Models that metrics read: trained here on your texts or ratings, or imported. A model is identified by its "
        "hash.",
        "metric-models#training-texts",
        words=("metric",),
    ),
    # --- Studies
    Page(
        ["correlations:study-"],
        "How far a metric agrees with people: correlations with their ratings, intervals, and tests of the "
        "differences.",
        "methods#sampled-unit-correlation",
        "methods#what-intervals-and-p-values-hold",
        ("study", "correlation", "unit-of-observation"),
    ),
    Page(
        ["correlations:study-compare"],
        "Studies side by side: the same metrics on several data sets or with other settings, pooled, ranked, and what "
        "differs between the studies.",
        "methods#several-studies",
        "methods#what-intervals-and-p-values-hold",
        ("study", "correlation"),
    ),
    Page(
        ["correlations:study-from-specification"],
        "A study from a document: a file or a text that another study, the API or a command gave.",
        "reports#the-specification",
        words=("study",),
    ),
    Page(
        ["correlations:study-joint-"],
        "One study over several data sets: each metric on each of them, pooled values and average ranks.",
        "methods#several-studies",
        "methods#what-intervals-and-p-values-hold",
        ("study", "correlation"),
    ),
    Page(
        ["correlations:study-verification-", "correlations:study-verify", "correlations:parameter-study-verify"],
        "A study computed again from the texts, weights and ratings that are here, and what differs from its report.",
        "reports#verifying-a-report",
        words=("study",),
    ),
    Page(
        ["correlations:study-levels"],
        "How a metric agrees with people over whole systems, and over single outputs: correlations, what each is "
        "without one system, and errors in points.",
        "methods#by-system-and-by-output",
        "methods#what-intervals-and-p-values-hold",
        ("study", "correlation"),
    ),
    Page(
        ["correlations:study-significance"],
        "Every two metrics against each other: which is closer to the raters, by the test that you choose, and which "
        "cannot be told apart.",
        "methods#metric-against-metric",
        "methods#what-intervals-and-p-values-hold",
        ("study", "correlation"),
    ),
    Page(
        ["correlations:study-stand-in"],
        "Whether a judge or a metric is as close to the raters as one of them is, tested rater by rater, and how many "
        "ratings its scores save.",
        "methods#what-a-metric-is-worth",
        "methods#what-intervals-and-p-values-hold",
        ("study", "rater", "rating"),
    ),
    Page(
        ["correlations:study-sensitivity"],
        "From how many ratings and references on one metric stays ahead of another, what other items or raters would "
        "change, and what other weights would.",
        "methods#how-many-raters-a-study-needed",
        "methods#what-intervals-and-p-values-hold",
        ("study", "rater", "weight"),
    ),
    Page(
        ["correlations:campaign-helped"],
        "Systems' mean ratings and their differences, with and without the scores of a metric for outputs that are not "
        "rated, and how many ratings the scores save.",
        "methods#what-a-metric-is-worth",
        "methods#what-intervals-and-p-values-hold",
        ("rating", "metric"),
    ),
    Page(
        ["correlations:parameter-study-"],
        "How a metric's correlation with people changes along one of its parameters.",
        "parameter-studies#what-the-report-shows",
        "methods#correlation-along-a-parameter",
        ("study", "metric"),
    ),
    Page(
        ["correlations:response-uses"],
        "Where a response's ratings and weight are used: releases, runs and studies.",
        "browsing#links",
        words=("response", "rating"),
    ),
)
BY_VIEW = {view: page for page in PAGES for view in page.views}


def page_of(view_name: str) -> Page | None:
    """Return what is said of a view's page, or None."""
    fitting = [beginning for beginning in BY_VIEW if view_name.startswith(beginning)]
    return BY_VIEW[max(fitting, key=len)] if fitting else None
