"""What the columns of the main tables mean: the text behind each header, once, by table and by the header's words.

A column without an entry needs none: its header says all, such as a name or a date.
"""

INTERVAL = "with the 95% interval in brackets"
WEIGHT = "From −1, as bad as can be, to +1, as good as can be."
MANY_MORE = "Where the weight of many more raters would lie, with a confidence of 95%."
P = "The probability of a value at least as far from 0 by chance alone. Small values speak against chance."

CERTAINTY = {
    "Weights from": "What a weight is computed from: one criterion, or the mean of several.",
    "Now": "Half the width of the weights' 95% intervals with the ratings there are.",
    "Responses that reach it": "Responses whose ratings give the chosen margin already.",
}
COLUMNS: dict[str, dict[str, str]] = {
    "campaigns": {
        "Shown": "How an item is shown to raters: a single response, a pair, or a list.",
        "Items": "Items of the data set about which raters are asked.",
        "Responses": "Texts to rate; identical texts of several systems for an item are one.",
        "Slots filled": "How many answers there are, of all that are planned.",
        "Raters": "How many people have rated at least once; pages of a campaign count those whose ratings count.",
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
    "added-outputs": {
        "Outputs": "Items for which the file has an output of the system.",
        "Already there": "Texts that the item has already: the system becomes a source and shares their ratings.",
    },
    "transfer": {
        "Of": "What the hash covers: a data set, a campaign's ratings or amendments, a release, a score run, a study.",
        "Where it was": "The first digits of the SHA-256 that the archive names.",
        "Here": "Whether the SHA-256 of what was imported is the same.",
    },
    "agreement": {
        "Ratings": "Current ratings that count. Corrected, late and excluded ones are left out.",
        "Mean": f"The mean rating, {INTERVAL}.",
        "Krippendorff's α": f"Agreement beyond chance, {INTERVAL}: 1 is perfect, 0 is chance.",
        "ICC(1)": f"The share of variance between responses for one rating, {INTERVAL}.",
        "ICC(k)": f"The same for the mean of a response's ratings, {INTERVAL}: how reliable the means are.",
        "Pairwise κ": f"Weighted agreement beyond chance over all pairs of raters, {INTERVAL}.",
    },
    "certainty": CERTAINTY,
    "enough": CERTAINTY
    | {
        "When all is rated": "The margin of error when every slot is filled.",
        "More ratings": "Ratings that are still needed for the chosen margin, over all responses.",
    },
    "forecast": {
        "Open difference": "Two systems whose order is not certain, the one ahead first.",
        "Difference": "Now, with half the interval that decides: 95%, corrected for the number of differences.",
        "Chance as planned": "How likely the difference is certain once every slot is filled, while some are open.",
        "More answers": "Beyond the planned, given to the items where they narrow this difference most.",
        "Or more items": "Items like these, each with the planned ratings, that do the same.",
    },
    "results": {
        "Rank": "After all systems that raters find significantly better, before the significantly worse (Holm). With "
        "fewer raters or ratings intervals are wider, so that a lower mean may reach a higher place.",
        "Mean": f"The mean over items of the output's mean rating, {INTERVAL}: over new samples of raters and items.",
        "Standardised": "The same in standard deviations of each rater's ratings, which removes severity and spread.",
        "Strength": f"Bradley-Terry strength, {INTERVAL}, with mean 0: 0.69 more is preferred twice as often.",
        "Share won": f"Share of comparisons won, a tie counted as half, {INTERVAL}. More points on a screen win.",
        "Won, tied, lost": "Comparisons by raters; behind a plus, ties of identical texts, which no rater saw.",
        "Ratings": "Ratings that count: without excluded raters, late answers and what was corrected.",
        "Raters": "Who gave them.",
        "Items": "Items with a rating of the system's output.",
    },
    "drift": {
        "Points per hour": f"By how much a rater's ratings change in an hour, {INTERVAL}, with a level for each rater.",
        "p": f"{P} With under ten raters the test is cautious: it finds drift by chance in 3 % of campaigns, not 5.",
        "Points over a sequence": "By how much ratings change from the first to the last items that a rater sees.",
    },
    "verification": {
        "Before": "In the stored result, or in the report that was sent.",
        "Now": "Computed again from the texts, weights and ratings that are here.",
    },
    "written": {
        "Item": "The item that the text was written for.",
        "Text": "As the rater wrote it. A text that is in the data set leads to its response there.",
        "Rater": "The pseudonym of who wrote it. No rater is handed their own text to rate.",
        "Stands out": "A copy of what was shown, a pasted text, or another language than the one expected.",
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
            " interval of at least 95%."
        ),
        "Mean": "The rater's mean rating: high is lenient, low is severe.",
        "Spread": "Standard deviation of the rater's ratings; 0 is the same answer always.",
        "Entropy, bits": (
            "How evenly the rater uses the points of the scale; 0 is one point only. In brackets an interval of at"
            " least 95%."
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
        "Items": "Items with a score, of all items of the run.",
        "Precisions": "The share of the outputs' n-grams that match, of each length; ΔBLEU weighs matches.",
        "Brevity penalty": "Below 1 if the outputs are shorter than the references.",
        "Length": "Words of the outputs, and of the references that they are compared with.",
        "Clamped": "Orders of n-grams without a match, or whose matches weigh 0 or less: counted as 0, or smoothed.",
    },
    "comparisons": {
        "Place": "The system's possible rank, counting significant differences only.",
        "Items of both": "Items that both systems have a score for.",
        "Difference": "The first system's score less the second's.",
        "Range of resamples": "The middle 95% of the differences over resampled items.",
        "p": P,
        "p, corrected": "The same, corrected over all pairs of the run: the more pairs, the larger.",
        "Told apart": "Yes if the corrected p is at most 0.05.",
    },
    "leaderboard": {
        "System": "What produced the texts. A column's header sorts by it, best first.",
        "Raters": "What the campaign's results say on this criterion, marked as they mark it.",
        "Pairs as raters": "Of the pairs that the raters tell apart for certain, how many the metric orders alike.",
    },
    "studies": {
        "Compared": "The systems whose outputs are compared, and how many pairs of them are correlated.",
        "Units": "Items in a unit, and how often items are assigned to units at random.",
        "Parameters": "The metric's parameters that the study varies.",
        "Systems": "How many systems' outputs the study scores.",
    },
    "study": {
        "References": "Which references the metric was given: all, or those above a weight.",
        "mean": "The correlation, averaged over the random assignments of items to units.",
        "other raters": "How far another group of as many raters would agree with these: a rough estimate, which a "
        "metric can exceed, as it lacks that group's noise.",
        "bootstrap": "95% interval from resampled items.",
        "Fisher’s z": "The 95% interval as Galley et al. (2015) compute it: as if units were independent.",
        "N": "Observations: a unit of a pair of systems each.",
        "Items": "Items on which two systems are rated and the metric is defined for both.",
        "Without a match": "The share of units’ scores in which n-grams of some length have no match, or matches that "
        "weigh 0 or less. Such a score is clamped to 0, or smoothed, which makes it small.",
    },
    "compared": {
        "References": "Which references the metric was given: all, or those above a weight.",
        "Difference": "The first study less the second, with the 95% interval that their own intervals give; bold if "
        "0 is outside.",
        "Pooled": "The mean over data sets, weighted by observations, with the 95% interval for these data sets.",
        "Average rank": "The rank among the rows, 1 the best, averaged over the studies.",
        "Leads": "In how many studies the row has the highest coefficient.",
    },
    "ranking": {
        "Pairs right": "Pairs of systems that it orders, or ties, as the raters do. Random scores: half of the pairs "
        "that raters do not tie, at most 50 %.",
        "Pairs right, with ties": "The same if scores that differ little are a tie, as raters tie many pairs.",
        "Ties of other items": "The same with ε chosen on the other items, in ten folds: what it is worth elsewhere.",
        "A tie up to": "The difference in score, ε, up to which two outputs are tied: the best one for these pairs.",
        "As sure as raters": "How near its p for each pair of systems is to the raters': soft pairwise accuracy. "
        "Random scores: 50 % if raters are sure of all pairs, up to 75 % if of none.",
    },
    "ranking-pairs": {
        "One system": "Pairs of outputs of one system that the metric orders, or ties, as the raters do.",
        "One system, with ties": "The same if scores that differ little are a tie, one threshold for all systems.",
        "Ties of other systems": "The same with ε chosen on the other systems: what it is worth elsewhere.",
        "Any two": "Pairs of any two outputs, of whatever system and item.",
        "Any two, with ties": "The same if scores that differ little are a tie.",
        "Outputs": "That are paired. If they have over a million pairs, a million are drawn at random: another draw "
        "may give 0.1 points more or less.",
    },
    "ceilings": {
        "Metric, units": "The metric's correlation with the raters, as in the table above.",
        "Halves of raters": "How far the mean ratings of two random halves of the raters correlate, over units.",
        "All raters": "What follows for another group as large as this one (Spearman-Brown): a rough estimate.",
        "Reached": "The metric's share of that estimate; “above” if it is higher, “more than expected” if it is higher "
        "than is expected of a score that has not seen the ratings.",
        "One rater": "A rater's correlation with the mean of the others, over single outputs; the mean over raters.",
        "Metric instead": "The metric's correlation with the same others over the same outputs.",
        "Raters": "Raters with 30 or more outputs that another rater rated, too: each is left out once.",
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
    "amendments": {
        "SHA-256": "Covers the change and all before it: no earlier change can be altered or removed unnoticed.",
    },
    "response-lists": {
        "Rated in": "The campaigns that rate the list's responses.",
    },
    "responses": {
        "From": "The systems and people that gave this text; identical texts are one response.",
        "Mean and number of ratings": "For each campaign and criterion; n counts the ratings.",
        "Weight": "In the chosen release: from −1, as bad as can be, to +1, as good as can be.",
    },
    "dry-runs": {
        "Raters": "The most simulated raters who come.",
        "Spammers": "The share of raters who do not read: half answer at random, half always the same.",
        "Arrivals an hour": "How many raters come in an hour, on average, at random times.",
        "Seed of the random numbers": "The same settings and seed give the same dry run.",
    },
    "dry-run-rules": {
        "Raters with enough answers": "Raters with as many answers as the rule waits for before it judges.",
        "Excluded": "Raters whose ratings the rule would leave out.",
    },
    "dry-run-raters": {
        "Simulated as": "What the simulation knows about the rater, and the rules do not.",
        "Checks and training": "Answers to items that are no work.",
        "Result": "What the campaign's rules made of the rater's answers.",
    },
    "rating-import": {
        "Line": "Of the file.",
    },
    "corpora": {
        "Triples": "A context, a message and the response to it, each: what a mining run searches.",
        "Index": "Space that the search index takes.",
        "Runs": "Mining runs that searched the corpus.",
    },
    "mining-runs": {
        "Seeds": "Items that references are mined for.",
        "Per seed": "Texts wanted for each seed: mined ones, the seed's own message as a “parrot”, and random ones.",
        "Added to the data set": "When the kept texts became responses of the data set.",
    },
    "mining-kinds": {
        "All": "Texts that the search returned or drew.",
        "Kept": "Texts that can become references.",
        "Duplicates": "Same text as the seed, or as a better ranked candidate.",
        "Dropped": "Removed by a step of text hygiene.",
    },
    "mining-kept": {
        "Kept": "How many mined texts were kept for a seed.",
        "Seeds": "How many seeds have that many.",
    },
    "invitations": {
        "Used by": "People who joined by this link, of those who may.",
    },
    "positions": {
        "Mean by position": "The mean rating of what was shown first, second and so on; numbers of ratings beside.",
        "Advantage of the first position": f"How much better the first does for its position alone, {INTERVAL}.",
        "p": P,
    },
    "verdicts": {
        "Would be": "Excluded: the rater's ratings no longer count. Flagged: they count, and somebody should look.",
        "Evidence": f"What the rule measured, {INTERVAL}, and on how many ratings (n). One item can have several "
        "ratings; an interval of times counts the time of an item once.",
    },
    "before-after": {
        "Ratings": "Ratings that count.",
        "Krippendorff's α": f"Agreement beyond chance, {INTERVAL}: 1 is perfect, 0 is chance.",
        "ICC(1)": f"The share of variance between responses for one rating, {INTERVAL}.",
        "Margin of error of weights": "Half the width of the weights' 95% intervals, on average.",
        "Systems": "The mean rating of each system's outputs, the highest first; the first six.",
    },
    "ratings": {
        "System": "What gave the response. Systems that gave the same text share the rating; a reference has its kind.",
        "Position": "Where the response stood, 1 being the first.",
        "Note": "Late ratings came after the slot went to another rater; a correction replaces an earlier rating.",
    },
    "decisions": {
        "Evidence": "What was measured when the decision was made.",
    },
    "recruitments": {
        "Places": "How many raters can take part.",
        "Working": "Raters who took a place and have not finished.",
        "Awaiting review": "Finished submissions that nobody has approved or rejected yet.",
        "Approved": "Submissions that are paid.",
        "Returned or timed out": "Places given back, by the rater or because the time was up.",
    },
    "notifications": {
        "Attempts": "How often it was sent. After failures it is sent again 1, 5 and 30 minutes, 2 and 8 hours later.",
        "Last answer": "Of the mail server, or of your program: its status and the beginning of its answer.",
    },
    "provider-accounts": {
        "Account holder": "As the provider reports it.",
        "Recruitments": "Recruitments that use the account.",
    },
    "payments": {
        "People": "How many raters are paid in this step.",
        "With fees": "What you pay: the amount and the provider's fee.",
    },
    "review": {
        "Outcome here": "How the rater's work ended in this campaign, whatever the provider shows.",
        "Items": "Items that the rater answered.",
        "Minutes": "From the start to the end of the rater's work.",
    },
    "submissions": {
        "Outcome here": "How the rater's work ended in this campaign, whatever the provider shows.",
        "Items": "Items that the rater answered.",
        "Minutes": "From the start to the end of the rater's work.",
        "Paid": "The reward, as the provider reports it.",
        "Bonus": "Paid beyond the reward.",
    },
    "attention": {
        "Weight": WEIGHT,
        "95% interval": MANY_MORE,
        "Judgements": "Judgements that count in the weight.",
        "Of planned ratings": "How many of the planned ratings count, and what became of the others.",
    },
    "release-changes": {
        "Move": "The later weight less the earlier one.",
        "Judgements": "Judgements behind the weight, before and after.",
    },
    "both-sides": {
        "Of references here": "The rater's judgements behind the weights of this release.",
        "Of outputs": "The rater's judgements of systems' outputs, which metrics are tested on.",
        "Outputs rated in": "Campaigns in which the rater judged outputs.",
    },
    "copies": {
        "Outputs": "The system's outputs on the items of this release.",
        "Identical to a reference": "Outputs that are a reference of their item, word for word.",
        "To the best one": "Outputs identical to their item's reference with the highest weight.",
        "Nearly identical": "Outputs that differ from a reference only in case or in compatible characters.",
    },
    "without-rater": {
        "With": "The weight in this release.",
        "Without": "The weight if this rater's ratings are left out.",
    },
    "influence": {
        "Ratings": "Ratings of this rater that count in the release.",
        "largest": "The largest change of a weight when this rater is left out.",
        "mean": "The mean change of the weights of the references that this rater rated, whatever its direction.",
        "average shift": "Mean of the weight with the rater less the weight without: above 0 if ratings raise weights.",
        "signs turned": "References whose weight is positive with the rater and negative without, or the reverse.",
        "became or left 0": "References whose weight is 0 with or without the rater, but not both.",
        "left without a rating": "References that only this rater rated: without the rater they have no weight.",
        "Best references changed": "Items whose best reference would be another one without the rater.",
    },
    "sensitivity": {
        "mean": "The mean change of a weight, whatever its direction, if this scheme were used.",
        "largest": "The largest change of a weight.",
        "ρ": "Spearman's rank correlation with this release's weights: 1 if all references keep their order.",
        "signs turned": "References with a positive weight under one scheme and a negative one under the other.",
        "became or left 0": "References whose weight is 0 under one scheme only.",
        "best changed": "Items none of whose best references stays the best.",
        "lose last positive": "Items that have a positive weight in this release and none under the scheme.",
        "gain one": "Items that have no positive weight in this release and one under the scheme.",
    },
    "sensitivity-changes": {
        "This release": "The weight in this release.",
        "Change": "The weight under the scheme less the weight in this release.",
    },
    "response-weights": {
        "Weight": WEIGHT,
        "95% interval": MANY_MORE,
        "Judgements that count": "The values behind the weight; late, corrected and excluded ones are left out.",
    },
    "response-ratings": {
        "Rated as": "The system whose output was shown.",
        "Position": "Where the response stood, 1 being the first.",
        "Seed of the order": "The order was drawn from it, so it can be repeated.",
        "Seconds": "From shown to sent, for everything that was shown at once.",
        "Status": "Whether the rating counts, and if not, why.",
    },
    "seed-selections": {
        "Candidates": "Items whose original response could become a seed.",
        "Mean at least": "The lowest mean rating of a seed's original response.",
        "Kept": "Seeds that were selected.",
        "Splits": "How many seeds are in each part of the data set.",
        "Rated in": "The campaigns whose ratings chose the seeds.",
    },
    "seeds": {
        "Seed": "The original response that was rated well enough.",
        "Mean when selected": "Its mean rating at the selection, and the number of ratings.",
        "Mean now": "With the ratings that came or were excluded since.",
    },
    "seed-levels": {
        "Mean at least": "The lowest mean rating of a seed's original response.",
        "Kept": "Items that would become seeds.",
        "Share": "Of all candidates: items with an original response.",
    },
    "parameter-study": {
        "n-grams": "How many of that length the language model lists, of all up to that length.",
        "r": "Pearson's correlation of the metric with the raters' means.",
        "Range of resamples": "The middle 95% of the correlations over resampled items.",
        "p": P,
    },
    "without-one": {
        "Left out": "The coefficient is computed again without this system.",
        "Best value then": "The value of the parameter that does best without the system.",
    },
    "study-row": {
        "Mean": "Averaged over the random assignments of items to units.",
        "Bootstrap over items": "95% interval from resampled items: how far other items could move the coefficient.",
        "… over items and raters: range of resamples": "The middle 95% if raters are drawn anew, too. In simulations "
        "it holds the truth in 80 %.",
        "Fisher’s z": "The 95% interval as Galley et al. (2015) compute it: as if units were independent.",
        "Spread over assignments": "Standard deviation over the random assignments; all share the same items.",
    },
    "study-systems": {
        "Mean rating": "Of the system's rated outputs, on the campaign's scale.",
        "Rated items": "Items whose output was rated.",
        "Units clamped": "Units without a match of some order, or whose matches weigh 0 or less: counted as 0.",
        "Units smoothed": "Units without a match of some order, which smoothing lets count as a small one, not as 0.",
    },
    "study-pairs": {
        "Metric difference": "The first system's score less the second's.",
        "Rating difference": "The first system's mean rating less the second's.",
        "Metric and raters": "Whether both prefer the same system; not certain if raters' results show neither ahead.",
        "Shared items": "Items that both systems answered and raters rated.",
        "Units": "Groups of items that the study correlates over.",
    },
    "three-levels": {
        "Highest in one": "The metrics that have the highest number in one of these columns.",
        "Units": "The study's headline: its leading coefficient over units of items, for pairs of systems. Only rows "
        "with enough units have a place.",
        "Systems": "Pearson's r over systems: which is better overall. Beside it the place among the metrics.",
        "Outputs": "Pearson's r over single outputs: which output is better.",
    },
    "system-level": {
        "r": "Pearson's r of the systems' scores and mean ratings, over the same outputs.",
        "95% over items": "95% interval of r over other items, for these systems. It says nothing of others.",
        "… and systems": "95% interval over other items and other systems: what systems like these may give. It is the "
        "one of the chart.",
        "p": "Two-sided, of no relation. It takes the systems for a random sample.",
        "ρ": "Spearman's rank correlation over systems.",
        "τ": "Kendall's tau-b over systems.",
        "Without one system": "r without the system that moves it most.",
    },
    "system-points": {
        "Outputs": "Rated and scored.",
        "Mean rating": "Of these outputs' mean ratings.",
        "Spread": "The standard deviation of these outputs' mean ratings.",
        "Score": "The metric's, over the same outputs.",
    },
    "system-ranges": {
        "Value": "The coefficient chosen above, of the systems' scores and mean ratings over the same outputs.",
        "Items": "Other items, for these systems and these raters.",
        "Items and systems": "Other systems like these on other items, by these raters; the table above has it of r.",
        "Raters": "A new sample of raters like these, for the same items and systems; it holds at least 95%.",
        "All three": "Other items, systems and raters at once: what the study, made anew, may give.",
    },
    "output-level": {
        "r, all outputs": "Pearson's r over all rated outputs of all systems together.",
        "Range over items": "The middle 95% of that r over resampled items.",
        "ρ, all outputs": "Spearman's rank correlation over all of them.",
        "r within items": "The mean over items of r among the outputs of one item: which is better, whatever the item.",
        "τ within items": "Likewise with Kendall's tau-b.",
        "r within systems": "The mean over systems of r among the outputs of one system.",
        "One rater": "What raters reach: each with the other raters over the same outputs, by the study's coefficient.",
    },
    "rating-errors": {
        "Onto the scale": "How scores of another unit were put on the raters' scale.",
        "MAE": "Mean absolute error: how many points a scaled score lies off the output's mean rating.",
        "RMSE": "Root mean squared error: large misses weigh more.",
        "MAE of the mean": "What one and the same rating for every output, the mean of all, is off.",
        "RMSE of the mean": "The deviation of the ratings: a metric above it is farther off than that mean.",
    },
    "clusters": {
        "Cluster": "One ends where every metric above is significantly closer to the raters than every one below.",
        "Ranks": "1 plus those that are significantly closer, to the last place less those significantly farther.",
        "Closer than": "The numbers of those that are significantly farther from the raters, after the correction.",
    },
    "significance": {
        "Closer": "The row with the higher coefficient over what both rows can use.",
        "Than": "The other row.",
        "Difference": "Of the two coefficients, both over what both rows can use.",
        "Interval": "Of the difference, from the standard error over resamples; what it holds stands with the test.",
        "p": "Two-sided, of this pair alone.",
        "p, corrected": "By Holm, for all pairs of this test. At 0.05 or below the two differ.",
    },
    "jobs": {
        "Took": "From the moment a worker began until it ended; of a job that was run again, the last time.",
        "Asked by": "Who started it; empty for one that the product started itself.",
    },
    "stand-ins": {
        "Stands in": "For whom it is shown: it beats half of the raters, and clearly one rating for all; else why not.",
        "Agreement": "Over single outputs, with the other raters in a rater's place; in brackets that rater's own.",
        "Raters beaten": "It is closer to the other raters than they are, less the margin; corrected for their number.",
        "Advantage": "How often it lies at least as close to the other raters as the rater does; the mean over raters.",
        "Lead": "The share of outputs where it is closer to the raters than one rating for all, less where that is.",
        "Ratings saved": "By how much fewer ratings give the systems' means the same certainty, with all scores.",
    },
    "stand-in-raters": {
        "Beaten": "Yes if its corrected p is 0.05 or below.",
        "Outputs": "Rated by this rater and at least one other, and scored.",
        "Advantage": "On how many of them the candidate lies at least as close to the others as this rater does.",
        "Agrees": "This rater's r with the mean of the others; not shown if it may be 0: then the rater is no bar.",
        "p": "One-sided: that the candidate's share is no larger than the rater's less the margin.",
        "p, corrected": "By Benjamini and Yekutieli, for all tested raters. At 0.05 or below the rater is beaten.",
    },
    "stand-in-means": {
        "Rated": "Outputs with a rating, of those with a score.",
        "Mean rating": "Of the rated outputs alone, with its 95% interval over outputs.",
        "With the scores": "The regression estimate over all scored outputs, with its 95% interval over outputs.",
        "Ratings saved": "1 less the ratio of the variances; none if the scores do not narrow the interval.",
    },
    "needed": {
        "Of what": "What a draw keeps fewer of; all else stays.",
        "Needed": "The smallest number from which on the first metric is ahead in 95% of draws, of the largest number "
        "collected.",
        "Ahead with one": "In how many of the draws that keep one each the first metric is ahead.",
    },
    "sources": {
        "Drawn anew": "What each draw takes anew, with replacement; all else stays as it is.",
        "Difference": "Of both coefficients, over the items that both metrics can use.",
        "First ahead": "The share of draws in which the first of the two has the higher coefficient.",
    },
    "schemes": {
        "Weights": "What the judgements of the references are made into; the release's own are marked.",
        "95% interval": "Over resampled items.",
        "Difference, same items": "From that under the release's own weights, over the items that both can use.",
        "Its interval": "The 95% interval of that difference, over the same resampled items.",
    },
    "helped": {
        "Rated": "Outputs, or items of both systems, with a rating, of those with a score.",
        "From ratings alone": "The mean over rated outputs, with its 95% interval for these raters.",
        "With the scores": "The regression estimate over all scored outputs, with its 95% interval.",
        "Ratings saved": "1 less the ratio of the variances; below 0 the regression costs more than the scores tell.",
    },
    "model-seen": {
        "Outputs seen": "Different outputs that it reads as one that it learnt from or was chosen by.",
    },
    "models": {
        "Texts": "Different texts, or rated outputs, that the model was trained on.",
        "Vocabulary": "Words, or pieces of words, that the model knows.",
        "Size": "Of the model's file.",
        "Runs": "Score runs that used the model.",
    },
    "board-notes": {
        "References": "What the outputs were compared with.",
        "Parameters": "Those that differ from the metric's defaults.",
    },
    "ngrams": {
        "Counts": "How often the match counts: no more often than in one reference.",
        "Won by": "The reference with the highest weight among those that hold the n-gram.",
        "Adds": "The count times the winner's weight: what the match adds to the score's numerator.",
        "Of at most": "What it would add if the reference with the highest weight held it as often.",
        "Also held by": "Other references that hold the n-gram, with lower weights.",
    },
    "browse-table": {
        "Weight": "From −1 to +1: how good the response is as a reference.",
        "n": "How many ratings the weight rests on.",
    },
    "given": {
        "n-grams held": "Different n-grams of the output that this reference holds.",
        "Won": "Those for which no other reference has a higher weight.",
        "Positive": "What its won matches add to the numerator of the score; one that repeats counts each time.",
        "Negative": "The same, if its weight is negative.",
    },
    "given-matches": {
        "In the output": "How often the output has the n-gram.",
        "Counts": "How often of those this reference has it, too.",
        "Won?": "Whether this reference has the highest weight among those that hold the n-gram.",
        "Would give": "The count times this reference's weight.",
        "Adds": "What it adds in fact: nothing if another reference won.",
    },
    "playground": {
        "With each reference alone": "The score if there were only this reference; the marked one is the score.",
        "Range": "The lowest and the highest possible score.",
    },
    "score-file": {
        "Scores": "Items with a score of this system.",
    },
}


def explanation(table: str, column: str) -> str:
    """Return what a column means; a table must be known, a column need not be explained."""
    return COLUMNS[table].get(column, "")
