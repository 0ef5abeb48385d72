"""What is sealed is found, and sealed again, without a text of it in the clear."""

from annotation.core.vault import BlindIndex, Vault

PURPOSE = b"tests 1"


def test_a_digest_finds_a_text_under_any_secret_and_tells_which_it_is_of() -> None:
    former = BlindIndex(["old"], purpose=PURPOSE)
    (stored,) = former.digests("A1WORKER")
    both = BlindIndex(["new", "old", "new"], purpose=PURPOSE)
    assert both.digests("A1WORKER")[1:] == [stored]
    assert stored.startswith(both.beginnings[1])
    assert not stored.startswith(both.beginnings[0])
    assert len(stored) == BlindIndex.LENGTH
    assert stored not in both.digests("A1WORKERS")
    assert former.digests("A1WORKER") != BlindIndex(["old"], purpose=b"tests 2").digests("A1WORKER")


def test_a_text_is_sealed_again_only_if_a_former_secret_sealed_it() -> None:
    sealed = Vault(["old"], purpose=PURPOSE).seal({"id": "x"})
    both = Vault(["new", "old"], purpose=PURPOSE)
    resealed = both.reseal(sealed)
    assert Vault(["new"], purpose=PURPOSE).open(resealed) == {"id": "x"}
    assert both.reseal(resealed) == resealed
