"""What stands above the texts to rate is named after what it is."""

import re

import pytest
from django.template.loader import render_to_string

from annotation.models import Item


@pytest.mark.parametrize(
    ("item", "titles", "label"),
    [
        (Item(message="Hi?"), ["Conversation"], False),
        (Item(context=["Hi!"], message="And you?", meaning_representation="inform(mood=good)"), ["Conversation"], True),
        (Item(meaning_representation="inform(name=Aromi)"), ["To be said:"], False),
        (Item(), ["Conversation"], False),
    ],
)
def test_a_screen_of_a_meaning_alone_is_no_conversation(item: Item, titles: list[str], label: bool) -> None:
    page = render_to_string("annotation/rating/rater_context.html", {"item": item, "language": "en"})
    assert re.findall(r'<h2[^>]*id="context-title">([^<]+)</h2>', page) == titles
    assert ('<p class="muted mb-1">To be said:</p>' in page) is label
