"""What the columns of the main tables mean: the text behind each header, once, by table and by the header's words.

A column without an entry needs none: its header says all, such as a name or a date.
"""

INTERVAL = "with the 95 % interval in brackets"
P = "The probability of a value at least as far from 0 by chance alone. Small values speak against chance."

COLUMNS: dict[str, dict[str, str]] = {
    "campaigns": {
        "Shown": "How an item is shown to raters: a single response, a pair, or a list.",
        "Units": "The items that raters see. Each is one screen and has as many slots as it needs ratings.",
        "Rated": "How many slots are filled, of all slots.",
        "Raters": "How many people have rated at least once.",
    },
    "datasets": {
        "Items": "Conversations or inputs that systems answered.",
        "Systems": "What produced responses: models, rules, or people.",
        "Licence": "Under which terms the texts may be used, as given at the import.",
    },
    "dataset": {
        "Outputs": "Items that the system answered.",
        "Shared": "Identical to another system's output for the same item: rated once, credited to both.",
    },
    "agreement": {
        "Ratings": "Current ratings that count. Corrected, late and excluded ones are left out.",
        "Mean": f"The mean rating, {INTERVAL}.",
        "Krippendorff's α": f"Agreement beyond chance, {INTERVAL}: 1 is perfect, 0 is chance.",
        "ICC(1)": f"The share of variance between responses for one rating, {INTERVAL}.",
        "ICC(k)": f"The same for the mean of a response's ratings, {INTERVAL}: how reliable the means are.",
        "Pairwise κ": f"Weighted agreement beyond chance over all pairs of raters, {INTERVAL}.",
    },
    "enough": {
        "Weights from": "What a weight is computed from: one criterion, or the mean of several.",
        "Now": "Half the width of the weights' 95 % intervals with the ratings there are.",
        "When all is rated": "The same when every slot is filled.",
        "More ratings": "Ratings that are still needed for the chosen margin, over all responses.",
        "Responses that reach it": "Responses whose ratings give the chosen margin already.",
    },
    "drift": {
        "Points per hour": f"By how much a rater's ratings change in an hour, {INTERVAL}, with a level for each rater.",
        "p": f"{P} With under ten raters the test is cautious: it finds drift by chance in 3 % of campaigns, not 5.",
        "Points over a sequence": "By how much ratings change from the first to the last items that a rater sees.",
    },
    "raters": {
        "State": "Where the rater is in the campaign, and whether flagged or excluded.",
        "Items": "Items that the rater has answered.",
        "Agreement with others": f"Correlation with the mean rating of the others on the same responses, {INTERVAL}.",
        "Gold": "Share of right answers to items whose answer is known.",
        "Attention": "Share of right answers to items that say which answer to give.",
        "Anchors": "Share of texts by people that the rater places where texts by people belong.",
        "Repeats within one point": "Share of items seen twice that got the same rating, give or take one point.",
        "Degraded texts rated lower": "How often a damaged text got a lower rating than the whole one; 0.5 is chance.",
        "Median seconds": (
            "Half of the rater's answers took less time. Far below the others, the rater may not read. In brackets an"
            " interval of at least 95 %."
        ),
        "Mean": "The rater's mean rating: high is lenient, low is severe.",
        "Spread": "Standard deviation of the rater's ratings; 0 is the same answer always.",
        "Entropy, bits": (
            "How evenly the rater uses the points of the scale; 0 is one point only. In brackets an interval of at"
            " least 95 %."
        ),
    },
    "reference-sets": {
        "Rated in": "The campaigns whose ratings weigh the references.",
        "References from": "The kinds of sources and the systems whose responses are references.",
        "Releases": "Numbered snapshots of the weights.",
    },
    "releases": {
        "Method": "How ratings become weights.",
        "References": "Responses that have a weight.",
        "Ratings": "Ratings that count in the weights.",
        "Hash": "Identifies the weights: the same ratings and method give the same hash on any machine.",
    },
    "runs": {
        "References": "What the outputs were compared with: a release and its subset, or the data set's own.",
        "Parameters": "Those that differ from the metric's defaults.",
        "Systems": "How many systems were scored.",
    },
    "run": {
        "Place": "The system's possible rank, counting significant differences only: “4–6” cannot be told apart.",
        "Segments": "Items with a score, of all items of the run.",
        "Precisions": "The share of the output's n-grams that a reference holds, for one to four words.",
        "Brevity penalty": "Below 1 if the outputs are shorter than the references.",
        "Length": "Words of the outputs, and of the references that they are compared with.",
        "Clamped": "Orders of n-grams whose matches weigh less than 0 in all, counted as 0.",
    },
    "comparisons": {
        "Place": "The system's possible rank, counting significant differences only.",
        "Items of both": "Items that both systems have a score for.",
        "Difference": "The first system's score less the second's.",
        "Range of resamples": "The middle 95 % of the differences over resampled items.",
        "p": P,
        "p, corrected": "The same, corrected over all pairs of the run: the more pairs, the larger.",
        "Told apart": "Yes if the corrected p is at most 0.05.",
    },
    "leaderboard": {
        "System": "What produced the texts. A column's header sorts by it, best first.",
        "Raters": "The mean rating of the system's outputs in a campaign, on the campaign's scale.",
    },
    "study": {
        "References": "Which references the metric was given: all, or those above a weight.",
        "mean": "The correlation, averaged over the random assignments of items to units.",
        "bootstrap": "95 % interval from resampled units.",
        "paper's": "The interval as the paper computes it, which treats units as independent.",
        "N": "Observations: a unit of a pair of systems each.",
        "Items": "Items that the row could use.",
        "Clamped": "Scores in which matches of some order weighed less than 0 in all, and were counted as 0.",
    },
    "study-differences": {
        "Compared": "The two metrics, on the same units.",
        "95% interval": (
            "Of the difference, from resampled units. Without 0 in it, the difference is significant. Over a"
            " dozen units it is wider than it need be."
        ),
        "p": f"{P} Over a dozen units the test is cautious: it finds a difference by chance in 2 % of studies, not 5.",
        "p, corrected": "The same, corrected over all comparisons of the study.",
    },
}


def explanation(table: str, column: str) -> str:
    """Return what a column means; a table must be known, a column need not be explained."""
    return COLUMNS[table].get(column, "")
