"""The whole run of ``make fuzz``, cut into pieces."""

import pytest

from scripts.fuzz import files, requests
from scripts.fuzz.__main__ import Piece, pieces, run_in_process
from scripts.fuzz.outcome import Outcome


def test_the_pieces_are_the_whole_run() -> None:
    counts = {"files": 2 * files.PIECE + 1, "imports": 3, "requests": requests.PIECE}
    todo = pieces(counts)
    for part, count in counts.items():
        numbers = [n for piece in todo if piece.part == part for n in range(piece.first, piece.first + piece.count)]
        assert numbers == list(range(count))
    assert [piece.part for piece in todo[:2]] == ["requests", "imports"], "the longest begin first"
    assert str(Piece("files", 2500, 250)) == "files 2,500 to 2,749"


def test_a_piece_in_a_process_of_its_own_reports_to_the_whole(capfd: pytest.CaptureFixture[str]) -> None:
    first = run_in_process(Piece("files", 2, 2), seed=1)
    second = Outcome.loaded(first.dumped())
    second.memory += 1
    whole = Outcome(files.MEMORY_MIB)
    whole.add(second)
    whole.add(first)
    assert (whole.n_wrong, whole.counts.total()) == (0, 4)
    assert 0 < first.memory < second.memory == whole.memory
    assert "files 2 to 3: 0 wrong" in capfd.readouterr().out


def test_a_process_that_ends_early_is_wrong(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.executable", "false")
    assert run_in_process(Piece("files", 0, 2), seed=1).n_wrong == 1
    assert "the process ended with 1" in capfd.readouterr().out


def test_too_much_memory_is_wrong() -> None:
    outcome = Outcome(memory_accepted=1)
    outcome.measure_memory()
    assert outcome.n_wrong == 1
    assert Outcome.loaded(outcome.dumped()).n_wrong == 1
