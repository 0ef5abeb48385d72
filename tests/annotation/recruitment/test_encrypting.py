"""Identities that earlier versions stored in the clear are encrypted by the migrations, row by row."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management.base import CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.test import override_settings
from pytest_django import Settings

from annotation.migrations import _identities
from annotation.models import ProviderEvent, RaterIdentity, Recruitment, Submission
from annotation.models.identities import digest_of, digests_of
from annotation.recruitment.services.accounts import vault
from annotation.recruitment.services.bonuses import batches_of
from annotation.recruitment.services.refreshing import trouble_of

CLEAR, FILLED, LAST = "0020", "0022", "0024"
OTHER = "another key, as long as such keys ought to be, 0123456789"
PERSON, SESSION = "60bf9310e8dec401be6e9615", "64b0f1c2d3e4f5a6b7c8d9e0"


def migrate(name: str) -> Any:
    executor = MigrationExecutor(connection)
    (target,) = [key for key in executor.loader.graph.nodes if key[0] == "annotation" and key[1].startswith(name)]
    executor.migrate([target])
    return executor.loader.project_state([target]).apps


@pytest.fixture
def earlier(transactional_db: None) -> Iterator[Any]:
    yield migrate(CLEAR)
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


def test_rows_in_the_clear_are_encrypted_and_none_is_lost(
    earlier: Any, monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path
) -> None:
    monkeypatch.setattr(_identities, "BATCH", 2)
    model = lambda name: earlier.get_model("annotation", name).objects  # noqa: E731
    project = model("Project").create(name="P", slug="p")
    dataset = model("Dataset").create(project=project, name="D", slug="d")
    campaign = model("Campaign").create(project=project, dataset=dataset, name="C", seed=1)
    key, settings.SECRET_KEY_PATH = settings.SECRET_KEY, tmp_path / "secret_key"
    secrets = vault().seal({"token": "t"})
    account = model("ProviderAccount").create(project=project, provider="prolific", name="Lab", secrets=secrets)
    options = {"trouble": {"at": "2026-01-01", "message": f"No {SESSION}"}, "bonuses": [], "reward": "1.00"}
    study = model("Recruitment").create(campaign=campaign, account=account, provider="prolific", options=options)

    def stored(number: int) -> None:
        rater = model("Rater").create(project=project, pseudonym=f"rater-{number}")
        identity = {"rater": rater, "project": project, "provider": "prolific", "session": SESSION if number else ""}
        model("RaterIdentity").create(**identity, external_id=f"{PERSON}{number}")
        note = f"Code entered: “{entered[number]}”; “C1” was given."
        model("Submission").create(recruitment=study, rater=rater, external_id=f"{SESSION}{number}", note=note)

    entered = [f"it is {PERSON}0", f"not the code but {PERSON}1"[:40], "ABC-12 “new”", f"{SESSION}3"]
    for number in range(3):
        stored(number)
    for provider, name in (("account", "7"), ("aggregate", "median")):
        rater = model("Rater").create(project=project, pseudonym=name)
        model("RaterIdentity").create(rater=rater, project=project, provider=provider, external_id=name)
    model("Submission").create(recruitment=study, external_id="erased-1")
    model("ProviderEvent").create(
        account=account, event_id="e", kind="x", payload={"id": SESSION}, error=f"No {SESSION}"
    )

    settings.SECRET_KEY_PATH.touch()
    for refused, changed in (
        ("Found no SECRET_KEY but one made just now", {"SECRET_KEY_IS_NEW": True}),
        ("Found the development's SECRET_KEY", {"SECRET_KEY": settings.DEVELOPMENT_SECRET_KEY, "DEBUG": True}),
        ("none of which this SECRET_KEY opens", {"SECRET_KEY": OTHER}),
    ):
        with override_settings(**changed), pytest.raises(CommandError, match=refused):
            migrate(FILLED)
    assert not settings.SECRET_KEY_PATH.exists()
    settings.SECRET_KEY = OTHER
    model("ProviderAccount").update(secrets="")
    migrate(FILLED)
    stored(3)  # by a process of the version before, while the columns are there
    model("Submission").filter(external_id=f"{SESSION}1").update(external_id="erased-7")
    model("ProviderEvent").update(payload={"id": "[erased]"}, error="No [erased]")
    settings.SECRET_KEY = key
    with pytest.raises(CommandError, match="an earlier run encrypted under another SECRET_KEY"):
        migrate(LAST)
    model("ProviderAccount").update(secrets=secrets)
    migrate(LAST)

    identities = RaterIdentity.objects.order_by("pk")
    stored_now = [(each.provider, each.external_id, each.session) for each in identities]
    from_prolific = [("prolific", f"{PERSON}{number}", SESSION if number else "") for number in range(4)]
    assert stored_now == [*from_prolific[:3], ("account", "7", ""), ("aggregate", "median", ""), from_prolific[3]]
    assert RaterIdentity.objects.get(digest__in=digests_of(f"{PERSON}2")).session_digest in digests_of(SESSION)
    submissions = Submission.objects.order_by("pk")
    known = [f"{SESSION}0", "erased-7", f"{SESSION}2", "erased-1", f"{SESSION}3"]
    assert [each.external_id for each in submissions] == known
    hidden = "Code entered: an id of the rater; “C1” was given."
    kept = "Code entered: “ABC-12 “new””; “C1” was given."
    assert [each.note for each in submissions] == [hidden, hidden, kept, "", hidden]
    event = ProviderEvent.objects.get()
    assert (event.payload, event.error) == ({"id": "[erased]"}, "No [erased]")
    assert set(event.digests) == set(map(digest_of, ["id", "[erased]", "erased", "No [erased]"]))
    recruitment = Recruitment.objects.get()
    assert trouble_of(recruitment) == {"at": "2026-01-01", "message": f"No {SESSION}"}
    assert (recruitment.options["reward"], batches_of(recruitment)) == ("1.00", [])
    assert SESSION not in str(recruitment.options)
