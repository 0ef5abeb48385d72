"""What a rater's page must keep in sight, from the smallest phone to a desk: measured by the browser."""

from playwright.sync_api import Page

SIZES = tuple(
    {"width": width, "height": height}
    for width, height in ((320, 640), (360, 640), (640, 360), (768, 1024), (1280, 800))
)
MOST_IN_A_ROW = 7

# Each question is gone to as by keyboard; then everything that can have the focus is focused in turn.
MEASURE = """(most) => {
    const problems = [];
    const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
    const box = (element) => element.getBoundingClientRect();
    const bottom = (selector) => Math.max(...all(selector).map((bar) => box(bar).bottom));
    const send = () => box(document.querySelector("#rating .rater-actions")).top;
    for (const question of assayRater.questions()) {
        const report = (text) => problems.push(`${question.querySelector("legend").textContent.trim()}: ${text}`);
        const points = all(".scale-points .scale-point", question);
        const rows = new Set(points.map((point) => box(point).top)).size;
        if (points.length && points.length <= most && rows !== 1) report(`${points.length} points in ${rows} rows`);
        for (const words of all(".point-label, .point-sign, .point-value", question)) {
            const hidden = !words.checkVisibility() || words.offsetWidth <= 1;
            if (!hidden && words.scrollWidth > words.parentElement.clientWidth) report(`"${words.textContent}" is cut`);
        }
        assayRater.goTo(question);
        const text = question.closest("[data-response]")?.querySelector("blockquote") ?? question;
        if (box(text).top < bottom(".rater-bar")) report(`text at ${box(text).top} of the page's top`);
        if (box(question).top < bottom(".rater-bar, .rater-long .rater-context")) report("under what stays at the top");
        if (box(question).bottom > send()) report(`down to ${box(question).bottom}, Send begins at ${send()}`);
    }
    for (const field of all("main :is(input:not([type=hidden]), select, textarea, button, a)")) {
        if (!field.checkVisibility()) continue;
        field.focus();
        const { left, top, width, height } = box(field);
        const line = Math.min(height, 44); // of a text field, the first line
        const shown = document.elementFromPoint(left + width / 2, top + line / 2);
        if (!(field.closest("label") ?? field).contains(shown)) problems.push(`covered: ${field.outerHTML}`);
    }
    assayRater.goTo(assayRater.missing() ?? assayRater.questions()[0]);
    document.activeElement.blur();
    window.scrollTo(0, 0);
    return problems;
}"""


def assert_fits_all_sizes(page: Page) -> None:
    """Assert that each text is in sight with each of its questions, seven points in a row, and that nothing is covered.

    Afterwards the page has its previous size, and the first open question is marked.
    """
    previous = page.viewport_size
    for size in SIZES:
        page.set_viewport_size(size)
        problems = page.evaluate(MEASURE, MOST_IN_A_ROW)
        assert not problems, "\n".join([f"{page.url}, {size}", *problems])
    page.set_viewport_size(previous)
