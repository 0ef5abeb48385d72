from pathlib import Path

import pytest
from django.conf import settings

LONGEST_LINE = 160
TEMPLATES = Path(settings.BASE_DIR) / "templates"


@pytest.mark.parametrize("path", sorted(TEMPLATES.rglob("*.html")), ids=lambda path: str(path.relative_to(TEMPLATES)))
def test_no_line_of_a_template_is_too_long_to_read(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [number for number, line in enumerate(lines, start=1) if len(line) > LONGEST_LINE] == []
