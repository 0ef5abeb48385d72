"""A data set whose responses are dialogues, and a campaign that rates them turn by turn and at the end."""

import json
from typing import Any

from annotation.campaigns.fields.table import CriterionDraft
from annotation.datasets.services.files import read_dataset
from annotation.datasets.services.imports import dataset_create
from annotation.models import Campaign, Dataset, Project, Scope
from tests.annotation.worlds.campaigns import make_campaign

SENSE = CriterionDraft("sense", "Does this turn make sense?", scope=Scope.TURN)
OVERALL = CriterionDraft("overall", "How good is the dialogue as a whole?")


def dialogue(*texts: str) -> list[dict[str, str]]:
    """Return turns, the user's first."""
    return [{"speaker": ("user", "system")[place % 2], "text": text} for place, text in enumerate(texts)]


def record(number: int, *systems: str) -> dict[str, Any]:
    outputs = {
        name: dialogue(f"Table {number}, please.", f"{name} has it.", "For two.", f"{name} booked table {number}.")
        for name in systems
    }
    return {"id": f"goal-{number}", "meaning_representation": f"Book table {number} for two.", "outputs": outputs}


def dialogues_file(items: int = 2, systems: tuple[str, ...] = ("Ada", "Bo")) -> bytes:
    return "".join(json.dumps(record(number, *systems)) + "\n" for number in range(items)).encode()


def make_dialogues(project: Project, *, items: int = 2, name: str = "bookings") -> Dataset:
    content, _ = read_dataset(dialogues_file(items), filename="bookings.jsonl", file_format="jsonl")
    return dataset_create(project=project, name=name, content=content)


def make_dialogue_campaign(dataset: Dataset, **options: object) -> Campaign:
    return make_campaign(dataset, **{"criteria": [SENSE, OVERALL], "name": "Bookings", **options})
