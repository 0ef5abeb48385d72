import pytest

from metrics.scoring.models.kinds import TRAINABLE
from metrics.scoring.models.training import train


@pytest.mark.parametrize("kind", TRAINABLE)
def test_each_kind_is_trained_by_its_name(kind: str) -> None:
    reports: list[int] = []
    model = train(kind, iter(["a b c", "a c", "b"]), progress=reports.append)
    assert model.kind == kind
    assert reports[-1] == 3


def test_options_reach_the_model() -> None:
    assert train("lsa", ["a b", "c"], components=1).n_components == 1  # type: ignore[attr-defined]
    assert train("language_model", ["a b", "c"], order=3).order == 3  # type: ignore[attr-defined]


def test_it_refuses_unknown_kinds_and_options() -> None:
    with pytest.raises(ValueError, match="kind: found 'neural'; accepted: 'lsa', 'language_model'"):
        train("neural", ["a"])
    with pytest.raises(ValueError, match="lsa: found option 'order'; accepted: components, tokenize"):
        train("lsa", ["a"], order=2)
