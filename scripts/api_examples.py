"""Record the examples of the API's schema: send each operation's request to a world of tests, and keep the answers.

    .venv/bin/python -m scripts.api_examples

Requests are those of ``scripts/fuzz/bodies.py``. An operation that needs another state, such as a draft, is sent to
each campaign of the world until one accepts it.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from scripts.fuzz.bodies import Valid, documents_of, operations

HOST = "https://assay.example.org"
ENTRIES = 2  # of each list
CHARACTERS = 160  # of each text
BEFORE = {  # what is sent first, so that an operation has something to do
    "campaigns_resume_create": "campaigns_pause_create",
    "datasets_delete_create": "campaigns_close_create",
    "campaigns_amendments_resume_system_create": "campaigns_amendments_stop_system_create",
    "models_retry_create": "models_cancel_create",
    "reference_sets_releases_restore_create": "reference_sets_releases_deprecate_create",
    "seed_selectings_retry_create": "seed_selectings_cancel_create",
    "weights_imports_retry_create": "weights_imports_cancel_create",
}
SECRETS = {"token": "0123456789abcdef0123456789abcdef01234567", "link": f"{HOST}/join/0123456789abcdef/"}


def exchanges(known: Mapping[str, Any], people: Mapping[str, Any]) -> Iterator[tuple[Valid, Any]]:
    """Yield each operation with the answer of the real endpoint; whatever it changes is taken back."""
    from annotation.campaigns.fields.table import CampaignDraft, CriterionDraft
    from annotation.campaigns.services.writing import campaign_create
    from annotation.models import Project

    project = Project.objects.get(slug=known["project_slug"])
    draft = campaign_create(
        project=project,
        draft=CampaignDraft(
            dataset=project.datasets.get(slug="chats"),
            name="Drafted",
            criteria=[CriterionDraft("quality", "How good?")],
        ),
    )
    documents = documents_of(known) | {
        "lab/delete": {"confirmation": project.name},
        "datasets/chats/delete": {"confirmation": "Chats"},
        "campaigns/delete": {"confirmation": draft.name},
    }
    worlds = [known, *({**known, "campaign_pk": pk} for pk in (draft.pk, known["imported_campaign_pk"]))]
    sent = [_by_operation(operations(world, documents)) for world in worlds]
    for operation in sent[0]:
        by_address: dict[str, dict[str, Valid]] = {}
        for requests in sent:
            by_address.setdefault(requests[operation].address, requests)
        yield _first_accepted(operation, list(by_address.values()), people["owner"])


def _by_operation(requests: Iterator[Valid]) -> dict[str, Valid]:
    """Return a request for each operation: as JSON if it takes that, else as a form with a file."""
    found: dict[str, Valid] = {}
    for valid in requests:
        if valid.operation not in found:
            found[valid.operation] = valid
    return found


def _first_accepted(operation: str, worlds: list[dict[str, Valid]], user: Any) -> tuple[Valid, Any]:
    """Return the first request that is not refused, or else the first, with its answer."""
    answers = []
    for requests in worlds:
        before = requests.get(BEFORE.get(operation, ""))
        answers.append(
            (requests[operation], _answer([before, requests[operation]] if before else [requests[operation]], user))
        )
        if answers[-1][1].status_code < 300:
            return answers[-1]
    return answers[0]


def _answer(requests: list[Valid], user: Any) -> Any:
    """Send requests and return the answer to the last one; nothing of them stays."""
    from django.core.files.uploadedfile import SimpleUploadedFile
    from django.db import transaction
    from rest_framework.test import APIClient

    client = APIClient()
    client.force_authenticate(user)
    with transaction.atomic():
        for valid in requests:
            body, kind = valid.body, "json"
            if valid.kind == "files":
                body, kind = (
                    {name: part if isinstance(part, str) else SimpleUploadedFile(*part) for name, part in body},
                    "multipart",
                )
            answer = getattr(client, valid.method.lower())(valid.address, body, format=kind)
        transaction.set_rollback(True)
    return answer


def recorded(known: Mapping[str, Any], people: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the examples by operation."""
    found = {}
    for valid, answer in exchanges(known, people):
        example: dict[str, Any] = {}
        if answer.status_code >= 300:
            print(f"refused: {valid.operation} {answer.status_code} {answer.content[:200]!r}")
            continue
        if valid.body is not None:
            example["request"] = shortened(request_of(valid))
        example["status"] = answer.status_code
        if "json" in answer.get("Content-Type", "") and not answer.streaming and answer.content:
            example["response"] = shortened(answer.json())
        found[valid.operation] = example
    return found


def request_of(valid: Valid) -> Any:
    """Return the body; for a form, its fields by name, with the name of the file."""
    if valid.kind != "files":
        return valid.body
    return {name: part if isinstance(part, str) else part[0] for name, part in valid.body}


def shortened(value: Any, name: str = "") -> Any:
    """Return the beginnings of lists and texts, without secrets and the host of the tests."""
    if name in SECRETS and isinstance(value, str):
        return SECRETS[name]
    if isinstance(value, Mapping):
        return {key: shortened(part, key) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [shortened(part, name) for part in value[:ENTRIES]]
    if isinstance(value, str):
        text = re.sub(r"^http://testserver", HOST, value)
        return text if len(text) <= CHARACTERS else text[: CHARACTERS - 1] + "…"
    return value


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()
    from django.db import connection, transaction
    from django.test.utils import setup_test_environment

    from config.api_examples import FILE
    from tests.api.world import build_world

    setup_test_environment()
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    with transaction.atomic():
        people, known = build_world()
        found = recorded(known, people)
    FILE.write_text(json.dumps(dict(sorted(found.items())), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"{len(found)} operations, {sum('response' in each for each in found.values())} with an answer")


if __name__ == "__main__":
    main()
