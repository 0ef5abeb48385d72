import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.hygiene import steps as hygiene
from annotation.hygiene.refusal import ParameterRefused
from annotation.hygiene.steps import Blocklist, Language, Length, MaskEmails, MaskHandles, MaskUrls
from annotation.mining.index.reading import ALPHA, EPSILON
from annotation.mining.specification import MiningSpecification

EVERY_STEP = (
    Blocklist(("darn", "heck")),
    Length(2, 40),
    Language("de", 30, 0.9),
    MaskHandles(),
    MaskEmails(),
    MaskUrls(),
)


def test_the_defaults_are_those_of_the_paper_and_the_index() -> None:
    specification = MiningSpecification()
    assert (specification.n, specification.parrot, specification.negatives) == (15, True, 0)  # ΔBLEU, section 4.1
    assert (specification.alpha, specification.epsilon) == (ALPHA, EPSILON)


def test_steps_are_sorted_in_the_order_in_which_they_run() -> None:
    names = [step.name for step in MiningSpecification(hygiene=EVERY_STEP).hygiene]
    assert names == ["mask_urls", "mask_emails", "mask_handles", "language", "length", "blocklist"]


def test_a_signature_names_every_parameter() -> None:
    specification = MiningSpecification(n=5, negatives=2, seed=7, hygiene=(Length(2, 40), MaskUrls()))
    assert specification.signature() == (
        "mining.v1|n:5|depth:10|parrot:yes|negatives:2|seed:7|same:nfc-space|near:jaccard-char3>=0.9"
        "|score:sordoni2015(alpha=0.5,epsilon=0)|hygiene:mask_urls.v1+length.v1(2-40)"
    )


CHANGES = [
    {"n": 14},
    {"parrot": False},
    {"negatives": 1},
    {"seed": 1},
    {"near_duplicate": 0.8},
    {"depth": 9},
    {"normalisation": "exact"},
    {"alpha": 1.0},
    {"epsilon": 0.1},
    {"hygiene": (MaskUrls(),)},
    {"hygiene": (Length(1, 50),)},
    {"hygiene": (Length(1, 49),)},
    {"hygiene": (Language("en"),)},
    {"hygiene": (Language("de"),)},
    {"hygiene": (Language("en", 21),)},
    {"hygiene": (Language("en", 20, 0.7),)},
    {"hygiene": (Blocklist(("a",)),)},
    {"hygiene": (Blocklist(("b",)),)},
    {"hygiene": EVERY_STEP},
]


def test_no_two_specifications_share_a_signature() -> None:
    signatures = [MiningSpecification().signature()]
    signatures += [replace(MiningSpecification(), **change).signature() for change in CHANGES]
    assert len(set(signatures)) == len(signatures)
    assert max(map(len, signatures)) <= 400


@given(
    n=st.integers(1, 1000),
    parrot=st.booleans(),
    negatives=st.integers(0, 1000),
    seed=st.integers(0, 2**63 - 1),
    steps=st.lists(st.sampled_from(EVERY_STEP), unique=True),
    near=st.floats(0.1, 1),
    depth=st.integers(1, 1000),
    alpha=st.floats(0, 1),
    epsilon=st.floats(0, 1000),
)
def test_a_specification_written_as_json_is_read_back(
    n: int,
    parrot: bool,
    negatives: int,
    seed: int,
    steps: list[hygiene.AnyStep],
    near: float,
    depth: int,
    alpha: float,
    epsilon: float,
) -> None:
    specification = MiningSpecification(
        n=n,
        parrot=parrot,
        negatives=negatives,
        seed=seed,
        hygiene=tuple(steps),
        near_duplicate=near,
        depth=depth,
        alpha=alpha,
        epsilon=epsilon,
    )
    read = MiningSpecification.from_dict(json.loads(json.dumps(specification.to_dict())))
    assert read == specification
    assert read.signature() == specification.signature()


def test_a_missing_parameter_has_its_default() -> None:
    assert MiningSpecification.from_dict({}) == MiningSpecification()
    assert MiningSpecification.from_dict({"hygiene": [{"step": "length", "max_tokens": 9}]}).hygiene == (Length(1, 9),)


@pytest.mark.parametrize(
    ("data", "field", "message"),
    [
        ({"n": "15"}, "n", "found '15'; accepted: a whole number from 0 to 1,000."),
        ({"n": True}, "n", "found True"),
        ({"n": 0, "parrot": False}, "n", "1 or more, unless the parrot or random responses"),
        ({"parrot": 1}, "parrot", "accepted: true or false"),
        ({"negatives": -1}, "negatives", "a whole number from 0 to 1,000"),
        ({"seed": 2**63}, "seed", "a whole number from 0 to"),
        ({"depth": 0}, "depth", "a whole number from 1"),
        ({"near_duplicate": 0}, "near_duplicate", "a number from 0.1 to 1"),
        ({"near_duplicate": float("nan")}, "near_duplicate", "a number from 0.1 to 1"),
        ({"alpha": 1.1}, "alpha", "a number from 0 to 1"),
        ({"epsilon": -0.1}, "epsilon", "a number from 0 to 1000"),
        ({"normalisation": "lower"}, "normalisation", "one of exact, nfc-space, nfkc-casefold"),
        ({"nn": 3}, "nn", "an unknown parameter"),
        ({"version": 2}, "version", "found 2; accepted: 1"),
        ({"hygiene": "length"}, "hygiene", "a list of steps"),
        ({"hygiene": ["length"]}, "hygiene[0]", "an object such as"),
        ({"hygiene": [{"step": "lenght"}]}, "hygiene[0].step", "found 'lenght'; accepted: one of mask_urls, mask_em"),
        ({"hygiene": [{"step": "length", "max": 3}]}, "hygiene[0].max", "one of step, version, min_tokens, max_tokens"),
        ({"hygiene": [{"step": "length", "version": 2}]}, "hygiene[0].version", "found 2; accepted: 1"),
        (
            {"hygiene": [{"step": "mask_urls"}, {"step": "length", "min_tokens": 5, "max_tokens": 4}]},
            "hygiene[1].max_tokens",
            "a whole number from 5",
        ),
        ({"hygiene": [{"step": "length"}, {"step": "length"}]}, "hygiene", "found length 2 times; accepted: each"),
        ({"hygiene": [{"step": "language", "language": "tlh"}]}, "hygiene[0].language", "a tag such as en or pt-BR"),
        ({"hygiene": [{"step": "language", "min_confidence": 0.4}]}, "hygiene[0].min_confidence", "from 0.5 to 1"),
        ({"hygiene": [{"step": "blocklist"}]}, "hygiene[0].phrases", "found '0 phrases'; accepted: from 1 to 10,000"),
        ({"hygiene": [{"step": "blocklist", "phrases": "darn"}]}, "hygiene[0].phrases", "a list of words and phrases"),
        ({"hygiene": [{"step": "blocklist", "phrases": ["darn", " "]}]}, "hygiene[0].phrases[1]", "a word or phrase"),
    ],
)
def test_a_refusal_names_the_parameter_what_was_found_and_what_is_accepted(
    data: dict[str, object], field: str, message: str
) -> None:
    with pytest.raises(ParameterRefused) as caught:
        MiningSpecification.from_dict(data)
    assert caught.value.field == field
    assert message in caught.value.message
    assert "accepted: " in str(caught.value)
