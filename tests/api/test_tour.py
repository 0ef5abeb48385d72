"""The commands of docs/api.md, run over HTTP against a live server and a real worker."""

from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from annotation.models import User
from tests.api.shell import Shell, blocks
from tests.conftest import ROOT
from tests.worker import Worker


@pytest.fixture
def tour(live_server: LiveServer, worker: Worker, tmp_path: Path) -> Shell:
    User.objects.create_user("reader", password="a-password-of-theirs")
    shell = Shell(tmp_path, ROOT, ASSAY=live_server.url, NAME="reader", PASSWORD="a-password-of-theirs")
    for script in blocks((ROOT / "docs/api.md").read_text()):
        shell.run(script)
    return shell


@pytest.mark.worker
def test_the_documented_tour_goes_from_token_to_table(tour: Shell) -> None:
    bodies = {answer.command: answer.body for answer in tour.answers}
    codes = [(answer.command.split()[2].rpartition("/")[0], answer.status) for answer in tour.answers]

    # demo/examples/dataset.jsonl holds three items and two systems, ratings.csv fifteen judgements by two criteria.
    (items,) = (body["results"] for command, body in bodies.items() if "/items/" in command)
    assert [item["external_id"] for item in items] == ["1", "2", "3"]
    (monitor,) = (body for command, body in bodies.items() if "/monitor/" in command)
    assert (monitor["judgements"], monitor["ratings"]) == (15, 30)

    # Both systems wrote the same for item 2, so two pairs are left; the template asks five ratings of each.
    (extended,) = (body["data"] for command, body in bodies.items() if "/extend/" in command)
    assert extended == {"ratings_per_unit": [5, 7], "places": 4}
    (applied,) = (body for command, body in bodies.items() if "/apply/" in command)
    assert applied == {"excluded": 0, "flagged": 0, "reopened": 0, "unchanged": 0}

    # Linear weights: 2 (mean - 1) / (5 - 1) - 1, where the mean of 4.5 and 5 is 4.75.
    (weights,) = (body["results"] for command, body in bodies.items() if "weights/" in command)
    assert {row["text"]: row["weight"] for row in weights}["I did. What a strike."] == pytest.approx(0.875)
    assert min(row["weight"] for row in weights) >= 0

    assert [code for command, code in codes if command == "$HERE/score-runs"] == [201, 200]
    assert tour.variables["AGAIN"] == tour.variables["RUN"]

    (table,) = (body for command, body in bodies.items() if "table/" in command)
    assert [(row["metric"], row["subset"]) for row in table] == [
        (metric, subset) for metric in ("sbleu", "delta_bleu") for subset in ("original", "w>0", "all")
    ]
    assert all((row["rho"]["value"] is None) == bool(row["rho"]["reason"]) for row in table)
    assert any(row["rho"]["over_items"] for row in table)
