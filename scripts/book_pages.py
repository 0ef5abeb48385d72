"""The pages of docs/screens, in the order of its README, with the actions before each screenshot."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from scripts.book_shots import Act, Journey, Shot

DESIGNING, WATCHING, RATERS, CHANGING = "Designing", "Watching", "Raters and quality", "Changing a running campaign"
RECRUITING, TRYING, RECORDING, RATING = "Recruiting", "Dry runs", "Records", "What raters see"
AREAS = (DESIGNING, TRYING, RECRUITING, WATCHING, RATERS, CHANGING, RECORDING, RATING)


def press(name: str) -> Act:
    """Return an action that presses a button by its text and waits for the next page."""

    def act(page: Page) -> None:
        page.get_by_role("main").get_by_role("button", name=name, exact=True).first.click()
        page.wait_for_load_state()

    return act


def ask_for_places(page: Page) -> None:
    page.locator("#id_ratings_per_unit").fill("8")
    press("See what will happen")(page)


def add_items(page: Page) -> None:
    page.locator("#id_item_limit").fill("30")
    press("See what will happen")(page)


def find_person(page: Page) -> None:
    page.locator("main input[name=wanted]").fill("Colleague 1")
    press("Find")(page)


def approve(page: Page) -> None:
    page.locator("main tbody input[type=checkbox]:not([disabled])").first.check()
    press("Approve …")(page)


def show_live(page: Page) -> None:
    page.wait_for_load_state("networkidle")
    page.mouse.wheel(0, 20_000)  # charts further down are drawn when they come into view
    page.wait_for_load_state("networkidle")
    page.mouse.wheel(0, -20_000)


MANAGED = [
    Shot(
        DESIGNING,
        "campaigns",
        "Campaigns",
        "All campaigns of a project, by state, with how far each is.",
        "demo",
        "campaigns/",
    ),
    Shot(
        DESIGNING,
        "new",
        "New campaign",
        "Begin with a published design or with nothing; the draft is made at once.",
        "demo",
        "campaigns/new/",
    ),
    Shot(DESIGNING, "step-what", "1 What is rated", "Data set, part of it, and which texts.", "next", "edit/what/"),
    Shot(
        DESIGNING,
        "step-screen",
        "2 Screen and scale",
        "How many texts at a time, and what is asked about them.",
        "next",
        "edit/screen/",
    ),
    Shot(
        DESIGNING, "step-words", "3 Words", "Instructions and consent, as raters will see them.", "next", "edit/words/"
    ),
    Shot(
        DESIGNING,
        "step-raters",
        "4 Raters",
        "Who may come, how much one person rates, what it pays.",
        "next",
        "edit/raters/",
    ),
    Shot(
        DESIGNING,
        "step-quality",
        "5 Quality",
        "Training, a test, and checks mixed into the work.",
        "next",
        "edit/quality/",
    ),
    Shot(
        DESIGNING,
        "step-review",
        "6 Review",
        "What will be shown, how much it is, what it costs, and what is still missing.",
        "next",
        "edit/review/",
    ),
    Shot(DESIGNING, "draft", "A draft's page", "What a launch would freeze.", "direct"),
    Shot(
        DESIGNING,
        "preview",
        "Preview",
        "The rater's screen with the first item; nothing is handed out.",
        "next",
        "preview/",
    ),
    Shot(DESIGNING, "design", "Design", "The frozen design of a launched campaign.", "main", "design/"),
    Shot(DESIGNING, "compare", "Two campaigns side by side", "Field by field, what differs.", "compare"),
    Shot(
        DESIGNING,
        "import",
        "A design from a file",
        "Made here or elsewhere; nothing is launched by it.",
        "demo",
        "campaigns/import/",
    ),
    Shot(
        DESIGNING, "clone", "Another like this", "A design once more, perhaps over another data set.", "main", "clone/"
    ),
    Shot(
        DESIGNING,
        "rating-import",
        "Ratings from elsewhere",
        "Files of other tools, recognised by what is in them.",
        "rating-import",
    ),
    Shot(
        DESIGNING,
        "rating-import-look",
        "A look before importing",
        "How the file was read, to be confirmed.",
        "rating-import-look",
    ),
    Shot(TRYING, "dry-runs", "Dry runs", "Simulated raters, before any money is spent.", "next", "dry-runs/"),
    Shot(
        TRYING,
        "dry-run",
        "A dry run's result",
        "How long it takes, what it costs, how certain the numbers will be, whom the rules strike.",
        "dry-run",
    ),
    Shot(TRYING, "dry-run-compare", "Two dry runs", "What a different crowd would change.", "dry-run-compare"),
    Shot(
        RECRUITING,
        "recruitments",
        "Recruitment",
        "Every way by which people come to a campaign.",
        "main",
        "recruitment/",
    ),
    Shot(
        RECRUITING,
        "recruitment-new",
        "A new study",
        "What is offered, and what each completion code does.",
        "main",
        "recruitment/new/prolific/",
    ),
    Shot(
        RECRUITING,
        "recruitment-new-mturk",
        "A new HIT",
        "The same for Mechanical Turk.",
        "main",
        "recruitment/new/mturk/",
    ),
    Shot(
        RECRUITING,
        "recruitment",
        "A study at Prolific",
        "Who came, how it ended there and here, what is due.",
        "prolific",
    ),
    Shot(
        RECRUITING,
        "recruitment-approve",
        "Approving",
        "What will be paid to whom, before it is.",
        "prolific",
        "",
        approve,
    ),
    Shot(RECRUITING, "recruitment-bonus", "Bonuses", "Extra pay, filled in where it is due.", "prolific", "bonuses/"),
    Shot(
        RECRUITING,
        "recruitment-by-hand",
        "A study made by hand",
        "Links and codes to copy; no account is needed.",
        "by-hand",
    ),
    Shot(RECRUITING, "providers", "Providers", "Accounts that a project may recruit with.", "demo", "providers/"),
    Shot(
        RECRUITING, "provider", "A provider's account", "Tested; its secrets are encrypted and never shown.", "account"
    ),
    Shot(
        RECRUITING,
        "provider-connect",
        "Connecting an account",
        "What to enter, and where to find it.",
        "demo",
        "providers/connect/mturk/",
    ),
    Shot(
        WATCHING,
        "overview",
        "Overview",
        "Live: progress, agreement, and whether these are enough ratings.",
        "main",
        "",
        show_live,
    ),
    Shot(
        WATCHING, "overview-watched", "Overview of the demo", "“Watch it”, as the demo comes.", "watched", "", show_live
    ),
    Shot(WATCHING, "ratings", "Ratings", "The log, corrections and late ones included.", "watched", "ratings/"),
    Shot(RATERS, "raters", "Raters", "Each with time, agreement and checks.", "main", "raters/"),
    Shot(RATERS, "rater", "One rater", "Everything the rater answered, and what was decided.", "rater"),
    Shot(
        RATERS,
        "quality",
        "Quality",
        "The rules that hold, what they have done, and how certain it is.",
        "main",
        "quality/",
    ),
    Shot(
        RATERS,
        "rules",
        "Rules",
        "Registered in versions; before the launch, they count as such.",
        "main",
        "quality/rules/",
    ),
    Shot(
        RATERS,
        "rules-preview",
        "Effects of rules",
        "A preview before any decision.",
        "main",
        "quality/rules/",
        press("Preview the effects"),
    ),
    Shot(
        RATERS,
        "rules-apply",
        "Applying rules",
        "Which raters are excluded or flagged, by which rule, on what evidence.",
        "main",
        "quality/apply/1/",
    ),
    Shot(
        CHANGING,
        "change-extend",
        "More ratings per item",
        "The order of the texts stays balanced.",
        "main",
        "change/extend/",
        ask_for_places,
    ),
    Shot(
        CHANGING,
        "change-stop-system",
        "Stop a system",
        "Its texts are no longer handed out.",
        "single",
        "change/stop-system/",
        press("See what will happen"),
    ),
    Shot(
        CHANGING,
        "change-resume-system",
        "Resume a system",
        "Its remaining texts are handed out again.",
        "single",
        "change/resume-system/",
        press("See what will happen"),
    ),
    Shot(
        CHANGING,
        "change-add-items",
        "Add items",
        "After the existing items, by the same design.",
        "main",
        "change/add-items/",
        add_items,
    ),
    Shot(
        CHANGING,
        "change-replace-excluded",
        "Replace excluded raters",
        "Other raters rate what they rated.",
        "main",
        "change/replace-excluded/",
    ),
    Shot(
        CHANGING,
        "change-reopen-unjudged",
        "Ask again",
        "If a rater could not judge an item, another rater can try.",
        "main",
        "change/reopen-unjudged/",
        press("See what will happen"),
    ),
    Shot(RECORDING, "records", "Records", "The complete log as one file, and every table of it.", "main", "records/"),
    Shot(
        RECORDING,
        "methods",
        "Methods paragraph",
        "Written from the record, each sentence linked to its source.",
        "main",
        "records/methods/",
    ),
    Shot(
        RECORDING,
        "datasheet",
        "Datasheet",
        "HEDS, filled in from the record as far as it goes.",
        "main",
        "records/datasheet/",
    ),
    Shot(RECORDING, "audit", "Audit log of a campaign", "Who did what, when.", "main", "audit/"),
    Shot(
        RECORDING,
        "audit-project",
        "Audit log of a project",
        "All of it, to filter and to take along.",
        "demo",
        "audit/",
    ),
    Shot(
        RECORDING,
        "held",
        "Data about a rater",
        "Asked without leaving the id in an address.",
        "demo",
        "raters/held/",
        find_person,
    ),
    Shot(RECORDING, "erase", "Erasing a person", "Who it was goes, the ratings stay.", "erase"),
]


# --- Raters -----------------------------------------------------------------------------------------------------------


def agree(page: Page) -> None:
    box = page.locator("form[action$='/consent/'] input[type=checkbox]")
    if box.count():
        box.first.check()
    page.locator("form[action$='/consent/'] button[type=submit]").click()
    page.wait_for_load_state()


def onward(page: Page) -> None:
    page.locator(".rater-actions .btn-primary").first.click()
    page.wait_for_load_state()


def send(page: Page) -> None:
    before = page.locator("#rating input[name=token]").input_value()
    page.locator(".rater-send").click()
    page.wait_for_function("token => document.querySelector('#rating input[name=token]')?.value !== token", arg=before)


def keys(*pressed: str) -> Act:
    def act(page: Page) -> None:
        page.wait_for_selector("#rating")
        for key in pressed:
            page.keyboard.press(key)

    return act


def then(*acts: Act) -> Act:
    def act(page: Page) -> None:
        for act in acts:
            act(page)

    return act


def test_screen(*, right: bool) -> Act:
    def act(page: Page) -> None:
        page.wait_for_selector("#rating")
        known = "5" if "train" in page.locator("blockquote").inner_text() else "1"
        page.keyboard.press(known if right else "3")
        send(page)

    return act


def fill(value: str) -> Act:
    return lambda page: page.locator("input[type=number]").fill(value)


def cannot(page: Page) -> None:
    page.wait_for_selector("#rating")
    page.locator(".cannot-judge > summary").first.click()
    page.locator("select[data-cannot-judge]").first.select_option(index=1)
    page.get_by_label("Comment").fill("Half a sentence is missing.")


def stop(page: Page) -> None:
    page.get_by_role("link", name="I am done for now").click()
    expect(page.locator("#completion-code")).to_be_visible()


JOURNEYS = [
    Journey(
        "Replies: one by one",
        [
            Shot(RATING, "rater-landing", "Consent", "What it is about, and a yes before anything is asked."),
            Shot(
                RATING,
                "rater-instructions",
                "Instructions",
                "To read once, and to open again on every screen.",
                act=agree,
            ),
            Shot(
                RATING,
                "rater-training",
                "Training",
                "A screen whose answer is known, explained afterwards.",
                act=onward,
            ),
            Shot(RATING, "rater-feedback", "Feedback", "What was expected, and why.", act=then(keys("1"), send)),
            Shot(
                RATING,
                "rater-failed",
                "Not passed yet",
                "How it went, and whether there is another try.",
                act=then(onward, test_screen(right=False), test_screen(right=False)),
            ),
            Shot(
                RATING,
                "rater-passed",
                "Passed",
                "On to the work.",
                act=then(onward, test_screen(right=True), test_screen(right=True)),
            ),
            Shot(
                RATING,
                "rater-single",
                "One text",
                "Five points; digits rate, Enter sends.",
                act=then(onward, keys("4")),
            ),
            Shot(RATING, "rater-finish", "Done", "The code, and thanks.", act=then(send, keys("3"), send)),
        ],
    ),
    Journey(
        "Replies: pairs",
        [
            Shot(
                RATING,
                "rater-pair",
                "Two texts, rated and compared",
                "A and B are balanced over all raters of a unit.",
                act=then(agree, onward, keys("4", "2", "5")),
            ),
        ],
    ),
    Journey(
        "Replies: six at a time",
        [
            Shot(
                RATING,
                "rater-list",
                "A list",
                "Six texts at a time; what is filled in is kept.",
                act=then(agree, keys("5", "4", "3")),
            ),
        ],
    ),
    Journey(
        "Fluency, 0 to 100",
        [
            Shot(
                RATING, "rater-slider", "A slider", "It has no value before it is touched.", act=then(agree, fill("64"))
            ),
            Shot(RATING, "rater-break", "A break", "Suggested after so many screens.", act=send),
            Shot(RATING, "rater-stop", "Leaving early", "What was sent counts; the code is there.", act=stop),
        ],
    ),
    Journey(
        "Naturalness",
        [
            Shot(
                RATING,
                "rater-magnitude",
                "A magnitude",
                "Any number, beside a standard text.",
                act=then(agree, fill("250")),
            ),
            Shot(RATING, "rater-pause", "A pause", "Counts down and goes on by itself.", act=send),
        ],
    ),
    Journey(
        "Replies: two questions",
        [
            Shot(
                RATING,
                "rater-cannot-judge",
                "Two questions and a comment",
                "“Cannot judge” with a reason, where the design allows it.",
                act=then(agree, cannot),
            ),
        ],
    ),
    Journey(
        "Replies: pairs",
        [
            Shot(
                RATING,
                "rater-arabic",
                "In Arabic",
                "From right to left; the texts keep their own direction.",
                act=then(agree, onward, keys("4", "2", "3")),
            ),
        ],
        locale="ar",
    ),
    Journey(
        "Replies: two questions",
        [
            Shot(
                RATING,
                "rater-german-landing",
                "In German: the beginning",
                "The rater's own words follow the browser, or a choice.",
            ),
            Shot(
                RATING,
                "rater-german",
                "In German",
                "Everything but the campaign's own texts.",
                act=then(agree, keys("4")),
            ),
        ],
        locale="de",
    ),
]
