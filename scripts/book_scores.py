"""The pages of the picture book about metrics: runs, models, the playground, scores and weights from elsewhere."""

from __future__ import annotations

import tempfile
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page, expect

from scripts.book_shots import Act, Shot

RUNNING, TRYING_OUT = "Metrics", "Playground and models"
JUDGING, ELSEWHERE, WAITING = "Metrics against raters", "Made elsewhere", "While it is being computed"
AREAS = (RUNNING, TRYING_OUT, JUDGING, ELSEWHERE, WAITING)
SCORES = Path(tempfile.gettempdir()) / "assay-book" / "word-overlap.csv"
TYPED = urlencode(
    [
        ("h", "that movie was great"),
        ("s", "how was the film ?"),
        ("r", "it was a good film"),
        ("w", "1"),
        ("r", "i think it is one of the best movies"),
        ("w", "0.8"),
        ("r", "that was my seat"),
        ("w", "-0.6"),
    ]
)


def part(heading: str) -> Act:
    """Return an action that hides all but the section with this heading, as long pages are cut."""

    def act(page: Page) -> None:
        section = page.locator("section", has=page.get_by_role("heading", name=heading, exact=True)).first
        expect(section).to_be_visible()
        section.evaluate("one => { for (const other of one.parentElement.children) other.hidden = other !== one; }")
        if page.viewport_size and page.viewport_size["width"] < 992:  # the form is not beside it
            page.locator("#play-form").evaluate("form => { form.style.display = 'none'; }")

    return act


def open_card(page: Page) -> None:
    """Show one metric with its parameters."""
    card = page.locator(".metric-card", has=page.get_by_role("heading", name="ΔBLEU", exact=True)).first
    for summary in card.locator("summary").all():
        summary.click()
    card.evaluate("""one => {
        for (const other of document.querySelectorAll(".metric-card")) if (other !== one) other.remove();
        for (const section of document.querySelectorAll("main section:not(:has(.metric-card))")) section.remove();
    }""")


def look(page: Page) -> None:
    """Preview a file of scores."""
    page.get_by_label("Name of the metric").fill("Word overlap")
    page.get_by_label("Where the scores come from").fill("Jaccard’s index of the words of output and message")
    page.locator("input[type=file]").set_input_files(SCORES)
    page.get_by_role("button", name="Upload and preview").click()
    expect(page.get_by_role("button", name="Import Word overlap’s scores")).to_be_visible()
    page.locator("input[name^=scale-][value=range]").check()
    for end, value in (("low", "0"), ("high", "1")):
        page.locator(f"input[name^={end}-]").fill(value)


def store(page: Page) -> None:
    look(page)
    page.get_by_role("button", name="Import Word overlap’s scores").click()
    expect(page.get_by_role("heading", name="Made elsewhere")).to_be_visible()


def preview(page: Page) -> None:
    page.get_by_role("main").get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="What would be kept")).to_be_visible()


SCORED = [
    Shot(RUNNING, "metrics", "Metrics", "Every metric: what it measures, and what it still needs.", "demo", "metrics/"),
    Shot(RUNNING, "metric", "A metric", "Source, range, parameters, its own page.", "demo", "metrics/", open_card),
    Shot(RUNNING, "runs", "Score runs", "Each with its signature; the same is never computed twice.", "demo", "runs/"),
    Shot(RUNNING, "run-new", "New score run", "The metric first.", "demo", "runs/new/"),
    Shot(
        RUNNING,
        "run-new-am-fm",
        "New score run: AM-FM",
        "The settings of this metric.",
        "run-new",
        "&metric=am_fm",
    ),
    Shot(RUNNING, "run", "A score run", "Each system with its interval; which may share a place.", "run"),
    Shot(RUNNING, "run-pairs", "Two systems", "On the same resamples; every pair, corrected.", "run", "pairs/"),
    Shot(RUNNING, "system-scores", "A system’s segments", "Best and worst, beside the raters.", "system-scores"),
    Shot(RUNNING, "segment", "A segment’s account", "Which n-grams matched, in which reference.", "segment"),
    Shot(RUNNING, "segment-am-fm", "Under another metric", "The same segment as AM-FM sees it.", "segment-am-fm"),
    Shot(TRYING_OUT, "playground", "Playground", "Empty, with examples.", "demo", "playground/"),
    Shot(
        TRYING_OUT,
        "playground-filled",
        "Typed into",
        "ΔBLEU’s account, as the keys go.",
        "demo",
        f"playground/?{TYPED}",
    ),
    Shot(
        TRYING_OUT,
        "playground-am",
        "Adequacy",
        "The cosine, pair of words by pair of words.",
        "demo",
        f"playground/?{TYPED}",
        part("Adequacy (AM)"),
    ),
    Shot(
        TRYING_OUT,
        "playground-fm",
        "Fluency",
        "How likely each word is after those before it.",
        "demo",
        f"playground/?{TYPED}",
        part("Fluency (FM)"),
    ),
    Shot(
        TRYING_OUT,
        "playground-metrics",
        "Every metric",
        "With each reference alone, too.",
        "demo",
        f"playground/?{TYPED}",
        part("Every metric"),
    ),
    Shot(TRYING_OUT, "models", "Trained models", "What some metrics must have learnt.", "demo", "models/"),
    Shot(TRYING_OUT, "model-new", "New model", "Texts to learn from, and those to leave out.", "demo", "models/new/"),
    Shot(TRYING_OUT, "model", "A model", "What it was made of, and what of it is judged.", "model"),
    Shot(JUDGING, "run-apart", "Against the raters", "Where they part, raters agreeing.", "run", "disagreements/"),
    Shot(JUDGING, "parameter-studies", "Parameter studies", "A metric’s own choices.", "demo", "parameter-studies/"),
    Shot(
        JUDGING,
        "parameter-study-new",
        "New parameter study",
        "Which values to try.",
        "parameter-study-new",
        "&metric=am_fm",
    ),
    Shot(JUDGING, "parameter-study", "A parameter study", "What each value does.", "parameter-study"),
    Shot(ELSEWHERE, "scores-import", "Scores from elsewhere", "A file of another program.", "demo", "runs/import/"),
    Shot(ELSEWHERE, "scores-look", "A look at scores", "What was understood.", "demo", "runs/import/", look),
    Shot(ELSEWHERE, "scores-done", "Imported scores", "A score run like any other.", "demo", "runs/import/", store),
    Shot(ELSEWHERE, "weights-import", "Weights from elsewhere", "A file of weighed references.", "weights-import"),
    Shot(ELSEWHERE, "weights-refused", "Weights refused", "What is wrong, row by row.", "weights-refused"),
    Shot(ELSEWHERE, "weights-done", "Weights imported", "A release, ready for metrics.", "weights-done"),
    Shot(WAITING, "model-training", "A model in training", "Followed by the page.", "model-training"),
    Shot(WAITING, "weights-at-work", "Weights on their way", "Stored whole, or not at all.", "weights-at-work"),
    Shot(WAITING, "seeds-select", "Selecting seeds", "A preview at each threshold.", "select", "", preview),
    Shot(WAITING, "seeds-selecting", "Seeds being selected", "By a worker.", "selecting"),
    Shot(WAITING, "seeds-failed", "A selection given up", "Choose again, as it was chosen.", "selecting-failed"),
    Shot(
        WAITING,
        "release-computing",
        "Figures being computed",
        "Of a release too large for a page.",
        "large-release",
        "sensitivity/",
    ),
    Shot(WAITING, "release-given-up", "Figures given up", "And requested again.", "large-release", "attention/"),
]
