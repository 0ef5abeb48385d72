"""The pages of the picture book about reference sets: mined, weighed, browsed, released."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from scripts.book_shots import Shot

MINING, WEIGHING = "Mining", "Reference sets"
AREAS = (MINING, WEIGHING)
MESSAGE = "it was the first team to win the cup three times in a row"
REPLY = "what a game that was"


def search(page: Page) -> None:
    """Ask the corpus as a reader would."""
    box = page.get_by_role("main").locator("form", has=page.locator("[name=message]"))
    box.locator("[name=message]").fill(MESSAGE)
    box.locator("[name=response]").fill(REPLY)
    box.get_by_role("button").first.click()
    page.wait_for_load_state("networkidle")


def point(page: Page) -> None:
    """Choose the first underlined n-gram, by keyboard as well as by finger."""
    gram = page.locator("main [data-gram], main .gram-match, main mark").first
    expect(gram).to_be_visible()
    gram.click()


REFERENCES = [
    Shot(MINING, "corpora", "Mining", "Corpora, runs and seeds of a project.", "corpora"),
    Shot(MINING, "corpus-new", "New corpus", "A file of conversations, read as a stream.", "corpus-new"),
    Shot(MINING, "corpus", "A corpus", "What it holds, and what it would find.", "corpus", "", search),
    Shot(MINING, "seeds", "Seeds", "Candidates drawn, rated, selected.", "seeds"),
    Shot(MINING, "selection", "A selection", "Means then and now; those that fell are marked.", "selection"),
    Shot(MINING, "response-list", "A list of responses", "To be rated once more.", "list"),
    Shot(MINING, "mining-new", "Mine references", "Seeds, corpus, how many, and what is cleaned.", "corpora", "new/"),
    Shot(MINING, "mining-run", "A mining run", "What was found, and what became of it.", "mined"),
    Shot(MINING, "mining-candidates", "Candidates", "Each with score, rank, source and fate.", "mined", "candidates/"),
    Shot(WEIGHING, "reference-set", "A reference set", "Its campaigns and releases.", "references"),
    Shot(WEIGHING, "release", "A release", "What it rests on, its hash, its files.", "release"),
    Shot(
        WEIGHING, "release-browse", "Browsing by item", "Best first, with histogram and interval.", "release", "browse/"
    ),
    Shot(
        WEIGHING,
        "release-browse-flat",
        "Browsing by reference",
        "All of them, sorted.",
        "release",
        "browse/?view=references",
    ),
    Shot(WEIGHING, "release-table", "As a table", "As the paper prints them.", "release", "browse/?view=table"),
    Shot(WEIGHING, "release-attention", "Needs attention", "What to rate again.", "release", "attention/"),
    Shot(WEIGHING, "release-sensitivity", "Sensitivity", "What other schemes would say.", "release", "sensitivity/"),
    Shot(WEIGHING, "release-influence", "Raters", "What each rater's absence would move.", "release", "raters/"),
    Shot(
        WEIGHING, "release-guard", "Circularity", "The same people or texts on both sides.", "release", "circularity/"
    ),
    Shot(
        WEIGHING, "release-compare", "Two releases", "Weights moved, references added and gone.", "release", "compare/"
    ),
    Shot(WEIGHING, "release-item", "The metric explained", "Matches, and which reference won each.", "item", "", point),
    Shot(WEIGHING, "response", "A reference", "Its ratings, weights, matches and source.", "response"),
]
