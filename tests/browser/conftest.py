"""Pages in a real Chromium. A test fails at its end if the console showed an error that it did not allow."""

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.browser.support import DESKTOP, PHONE, ConsoleErrors, launch_chromium, passed_styles, theme_context
from tests.conftest import folder_of_run


def pytest_collection_modifyitems(items):
    for item in items:
        if "browser" in item.path.parts:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    passed_styles.share(folder_of_run(tmp_path_factory) / "passed-styles")
    with pytest.MonkeyPatch.context() as patch:
        # Playwright's synchronous API keeps an event loop in this thread, which Django takes for asynchronous code.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        with sync_playwright() as playwright:
            expect.set_options(timeout=90_000)  # a busy machine draws charts slowly
            browser = launch_chromium(playwright)
            yield browser
            browser.close()


@pytest.fixture
def console_errors():
    errors = ConsoleErrors()
    yield errors
    assert errors.unexpected() == []


@pytest.fixture
def new_page(chromium, console_errors):
    """Return a function that opens a page in a new context: ``new_page(**PHONE)``, ``new_page(theme="dark")``."""
    contexts = []

    def open_page(**options):
        # No test looks at these pages, so a phone's pixels are not doubled.
        context = theme_context(chromium, **(options or DESKTOP) | {"device_scale_factor": 1})
        contexts.append(context)
        page = context.new_page()
        console_errors.listen_to(page)
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture
def page_desktop(new_page):
    return new_page(**DESKTOP)


@pytest.fixture
def page_phone(new_page):
    return new_page(**PHONE)
