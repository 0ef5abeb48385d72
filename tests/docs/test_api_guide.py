"""The guide for programs, with curl and from Python, against a live server and a real worker."""

import re
from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from annotation.models import Campaign, CampaignState, ReleaseWeight, User
from tests.api.shell import Shell, blocks
from tests.conftest import ROOT
from tests.worker import Worker

pytestmark = pytest.mark.worker
GUIDE = (ROOT / "docs/guides/api.md").read_text(encoding="utf-8")
NAME, PASSWORD = "reader", "a-password-of-theirs"


def of_python(server: str) -> str:
    """Return all Python of the guide, with the server and the account of the test."""
    text = "\n".join(re.findall(r"^```python\n(.*?)^```$", GUIDE, flags=re.MULTILINE | re.DOTALL))
    for printed, replacement in (
        ("http://127.0.0.1:8000", server),
        ('"manager"', f'"{NAME}"'),
        ("assay-demo", PASSWORD),
    ):
        assert printed in text
        text = text.replace(printed, replacement)
    return text


def test_both_ways_take_the_same_five_steps(
    live_server: LiveServer,
    worker: Worker,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    User.objects.create_user(NAME, password=PASSWORD)
    shell = Shell(tmp_path, ROOT, ASSAY=live_server.url, NAME=NAME, PASSWORD=PASSWORD)
    for script in blocks(GUIDE):
        shell.run(script)
    monkeypatch.chdir(ROOT)
    used: dict[str, object] = {}
    exec(of_python(live_server.url), used)
    used["assay"].close()  # type: ignore[attr-defined]

    bodies = {answer.command: answer.body for answer in shell.answers}
    weights, scores = (body["results"] for command, body in bodies.items() if re.search("(weights|scores)/", command))
    (results,) = (body for command, body in bodies.items() if "/results/" in command)
    printed = capsys.readouterr().out.splitlines()
    assert re.fullmatch(rf"{live_server.url}/r/[\w-]+/", printed[0])
    expected = [
        *(f"{criterion['criterion']}: {criterion['sentence']}" for criterion in results["criteria"]),
        *(f"{row['text']} {row['weight']}" for row in weights),
        *(f"{row['system']} {row['score']}" for row in scores),
    ]
    assert printed[1:] == expected
    # Linear weights, 2 (mean - 1) / (5 - 1) - 1: the means are 4.5, 4.5 and 4.
    assert sorted(row["weight"] for row in weights) == [0.5, 0.75, 0.75]
    # sacrebleu's corpus chrF against these references: 15.01 and 6.68.
    assert [(row["system"], round(row["score"], 4)) for row in scores] == [("SystemA", 0.1501), ("SystemB", 0.0668)]
    states = Campaign.objects.filter(name="Pairs").values_list("state", flat=True)
    assert list(states) == [CampaignState.RUNNING] * 2
    assert ReleaseWeight.objects.count() == 2 * len(weights)
