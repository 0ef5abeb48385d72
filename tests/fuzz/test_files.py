"""The samples that ``make fuzz`` damages, and the damage."""

import random

from scripts.fuzz.damage import DAMAGES, damaged
from scripts.fuzz.files import attempt
from scripts.fuzz.samples import samples

REFUSED_WHOLE = ("ratings",)  # in any shape but its own


def test_every_reader_reads_its_sample_and_survives_damage() -> None:
    outcomes = {}
    for number, sample in enumerate(samples()):
        if not sample.name.startswith(REFUSED_WHOLE):
            assert attempt(sample, sample.content) == "read", sample.name
        if "parquet" not in sample.name:  # each takes a process
            content, _ = damaged(sample, random.Random(number))
            outcomes[sample.name] = attempt(sample, content)
    assert set(outcomes.values()) <= {"read", "refused"}, outcomes


def test_damage_is_repeated_by_its_number() -> None:
    for damage in DAMAGES:
        content = b'{"id": "1", "score": 0.5}\n{"id": "2"}\n'
        assert damage(content, random.Random(7)) == damage(content, random.Random(7)), damage.__name__
