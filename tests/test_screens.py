"""Every page of the screenshot book has its pictures, and every picture has a page."""

from scripts import book

FOLDER = book.ROOT / "docs" / "screens"


def test_every_page_has_its_four_pictures_and_every_picture_its_page() -> None:
    shots = [*book.PAGES, *(shot for journey in book.JOURNEYS for shot in journey.shots)]
    wanted = {f"{shot.name}-{width}-{theme}.webp" for shot in shots for width in book.WIDTHS for theme in book.THEMES}
    assert wanted == {picture.name for picture in FOLDER.glob("*.webp")}


def test_the_readme_shows_every_picture() -> None:
    assert (FOLDER / "README.md").read_text() == book.table(FOLDER)
