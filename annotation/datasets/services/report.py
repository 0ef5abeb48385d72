"""What an import found, in numbers and in words: one wording for pages, commands and the demo."""

from collections.abc import Mapping

from annotation.datasets.mapping.meanings import MEANINGS
from annotation.datasets.mapping.rules import parts_of

WORDS = {
    "items": "Items",
    "systems": "Systems",
    "outputs": "System outputs",
    "references": "References",
    "responses": "Distinct responses: outputs and references, after identical texts of an item were made one",
    "identical_outputs": "Outputs identical to another system's: rated once, credited to each",
    "identical_references": "References identical to another of the same item",
    "output_equals_reference": "Outputs identical to a reference of their item",
    "items_without_references": "Items without references",
    "items_without_outputs": "Items without outputs",
    "empty_references": "References without text, left out",
    "empty_outputs": "Outputs without text, kept: an answer that says nothing",
    "rows": "Rows with content",
    "rows_of_other_systems": "Rows of systems that were not requested, left out",
    "drawn": "Triples drawn from the corpus, one after the other",
    "dropped_by_hygiene": "… of which a hygiene step left out",
    "masked_by_hygiene": "… of which something was masked in",
    "checks_chk": "Repeats of an earlier text (CHK), left out",
    "checks_bad": "Rows about degraded texts (BAD), left out",
    "checks_ref": "Rows about the reference (REF), left out",
    "checks_src": "Rows about the source (SRC), left out",
    "scores_of_documents": "Scores of whole documents, left out",
    "shared_rows": "Rows that credit one judgement to a further system with the same text, joined",
    "cancelled_annotations": "Annotations that were cancelled (the task was skipped), left out",
    "annotations_without_rating": "Annotations without a rating, left out",
    "ground_truth_annotations": "Annotations marked as ground truth, kept",
    "results_left_out": "Results of other controls, left out",
    "judge_columns": "Columns that look like a judge's scores, left out",
    "late_ratings": "Ratings that came late and did not count (extra), left out",
    "corrected_ratings": "Ratings that a later one corrects, left out",
    "judgements": "Judgements",
    "ratings": "Ratings (judgements × criteria)",
    "scales_inferred": "Criteria whose scale was taken from their values",
    "not_rated": "Places left empty: not rated",
    "raters": "Raters",
    "behind_aggregates": "Ratings behind the medians or means, as the file says",
    "rated_items": "Items rated",
    "rated_systems": "Systems rated, by the names in the file",
    "rated_responses": "Distinct responses rated: identical texts of an item count once",
    "repeated_judgements": "Repeated rows (same rater, item and system), kept: both are judgements",
    "repeated_differing": "… of which differ from the first",
    "alias_judgements": "Judgements made under another name of a system",
    "alias_outputs": "Outputs credited to another name of their system",
    "responses_under_several_names": "Responses rated under more than one name",
    "raters_met_text_under_several_names": "Times a rater judged one text under more than one name",
    "byte_order_mark": "Byte-order mark, skipped",
    "windows_line_ends": "Lines with Windows line ends (CR LF)",
    "blank_lines": "Blank lines, skipped",
    "short_rows": "Rows shorter than the header, filled with empty cells",
    "ragged_rows": "Rows whose number of cells differs from the header's",
    "quote_cells": "Cells with quote characters that are text, not quoting",
}
ALWAYS = {"items", "systems", "outputs", "references", "responses", "judgements", "ratings", "raters"}


def meanings_of(mapping: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return each field of a file and its meaning in words."""
    parts = {name: parts_of(meaning) for name, meaning in mapping.items()}
    return [
        (name, f"{MEANINGS[key].label}: {system}" if system else MEANINGS[key].label)
        for name, (key, system) in parts.items()
    ]


def report_rows(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """(what, how many), in a fixed order; zeros only where zero is news."""
    return [(words, counts[key]) for key, words in WORDS.items() if key in counts and (counts[key] or key in ALWAYS)]
