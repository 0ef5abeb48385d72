"""A refusal by a serializer says what was found and what is accepted, in the product's words."""

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import QueryDict
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from annotation.core.refusals import checked

ROOT = Path(__file__).parents[3]


class PersonSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=10, required=False)
    slug = serializers.SlugField(required=False)
    nickname = serializers.CharField(required=False)
    password = serializers.CharField(write_only=True, required=False)


class EverythingSerializer(serializers.Serializer[Any]):
    """One field of each kind that the product's requests have."""

    text = serializers.CharField(max_length=5)
    whole = serializers.IntegerField(min_value=1, max_value=9, required=False)
    number = serializers.FloatField(min_value=0, allow_null=True, required=False)
    flag = serializers.BooleanField(required=False)
    role = serializers.ChoiceField(choices=["viewer", "manager"], required=False)
    many = serializers.ChoiceField(choices=[str(number) for number in range(30)], required=False)
    moment = serializers.DateTimeField(required=False)
    names = serializers.ListField(child=serializers.CharField(), min_length=2, max_length=2, required=False)
    tags = serializers.ListField(allow_empty=False, required=False)
    table = serializers.DictField(child=serializers.IntegerField(), required=False)
    json = serializers.JSONField(required=False)
    file = serializers.FileField(required=False)
    person = PersonSerializer(required=False)
    people = PersonSerializer(many=True, required=False)

    def validate_flag(self, flag: bool) -> bool:
        if flag:
            raise serializers.ValidationError("Found true; accepted: true on Sundays.")
        return flag


def refusal_of(body: object, kind: type[serializers.Serializer[Any]] = EverythingSerializer) -> Any:
    with pytest.raises(ValidationError) as caught:
        checked(kind(data=body))
    return caught.value.detail


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("text", None, "Found null; accepted: text of 1 to 5 characters."),
        ("text", "", "Found ''; accepted: text of 1 to 5 characters."),
        ("text", "x" * 1200, "Found 1,200 characters; accepted: text of 1 to 5 characters."),
        ("text", ["x"], "Found a list; accepted: text of 1 to 5 characters."),
        ("text", True, "Found true; accepted: text of 1 to 5 characters."),
        ("text", "a\x00b", "Found a NUL character; accepted: text without one."),
        ("whole", "much", "Found 'much'; accepted: a whole number from 1 to 9."),
        ("whole", 10, "Found 10; accepted: a whole number from 1 to 9."),
        ("whole", "9" * 1001, f"Found '{'9' * 40}…'; accepted: a whole number from 1 to 9."),
        ("number", {}, "Found an object; accepted: a number of at least 0, or null."),
        ("number", -1, "Found -1; accepted: a number of at least 0, or null."),
        ("flag", "perhaps", "Found 'perhaps'; accepted: true or false."),
        ("flag", True, "Found true; accepted: true on Sundays."),
        ("role", "boss", "Found 'boss'; accepted: one of viewer, manager."),
        ("many", "30", f"Found '30'; accepted: one of {', '.join(map(str, range(20)))} and 10 more."),
        ("moment", "soon", "Found 'soon'; accepted: a date and time such as 2026-05-31T12:00:00Z."),
        ("names", "Ann", "Found 'Ann'; accepted: a list of 2 entries, each entry text that is not empty."),
        ("names", ["a"] * 3, "Found 3 entries; accepted: a list of 2 entries, each entry text that is not empty."),
        ("tags", [], "Found an empty list; accepted: a list that is not empty."),
        ("table", [1], "Found a list; accepted: an object."),
        ("file", "x", "Found 'x'; accepted: a file that is not empty."),
        ("file", SimpleUploadedFile("a.csv", b""), "Found an empty file; accepted: a file that is not empty."),
    ],
)
def test_a_message_says_what_was_found_and_what_is_accepted(field: str, value: object, message: str) -> None:
    assert refusal_of({"text": "Tea", field: value}) == {field: [message]}


def test_what_is_missing_is_named_with_what_is_accepted() -> None:
    assert refusal_of({}) == {"text": ["Found nothing; accepted: text of 1 to 5 characters."]}
    assert refusal_of(QueryDict("whole=x"))["whole"] == ["Found 'x'; accepted: a whole number from 1 to 9."]


def test_fields_within_fields_are_reworded_at_their_places() -> None:
    body = {
        "text": "Tea",
        "names": ["Ann", ""],
        "table": {"a": "x"},
        "person": [],
        "people": [{}, {"slug": "Not a slug", "password": ["secret"]}],
    }
    assert refusal_of(body) == {
        "names": {1: ["Found ''; accepted: text that is not empty."]},
        "table": {"a": ["Found 'x'; accepted: a whole number."]},
        "person": {
            "non_field_errors": ["Found an empty list; accepted: an object with name, slug, nickname, password."]
        },
        "people": {
            1: {
                "slug": ["Found 'Not a slug'; accepted: a slug of letters, digits, hyphens and underscores."],
                "password": ["Found what is hidden here; accepted: text that is not empty."],
            }
        },
    }
    message = "Found 'Ann'; accepted: a list, each entry an object with name, slug, nickname, password."
    assert refusal_of({"text": "Tea", "people": "Ann"}) == {"people": {"non_field_errors": [message]}}


def test_no_endpoint_refuses_a_request_in_other_words() -> None:
    rooms = [ROOT / "annotation", ROOT / "metrics", ROOT / "correlations", ROOT / "config"]
    sources = [path for room in rooms for path in room.rglob("*.py")]
    assert len(sources) > 500
    assert [path for path in sources if "is_valid(raise_exception=True)" in path.read_text()] == []
