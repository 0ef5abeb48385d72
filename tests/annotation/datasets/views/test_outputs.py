"""The page that adds outputs to a data set, by role; and the command."""

import json
from io import StringIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.core.file_limits import PAGE_BYTES
from annotation.models import KeptFile, Project, Response, ResponseSource, System, UnitResponse
from tests.annotation.worlds.campaigns import make_campaign, make_dataset
from tests.annotation.worlds.datasets import example_dataset

TABLE = "item_id,text\n1,Hi.\n2,I do not know.\n"


@pytest.fixture
def address(project: Project) -> str:
    return reverse("annotation:dataset-outputs", args=[project.slug, example_dataset(project).slug])


def sent(text: str = TABLE, **changes: object) -> dict:
    return {"file": SimpleUploadedFile("new.csv", text.encode()), "system": "New", "action": "look"} | changes


def page_of(response) -> str:
    return " ".join(response.content.decode().split())


def test_managers_alone_may_add_outputs(address: str, viewer, outsider, as_user, client) -> None:
    for method in ("get", "post"):
        assert getattr(as_user(viewer), method)(address).status_code == 403
        assert getattr(as_user(outsider), method)(address).status_code == 404
        assert getattr(client, method)(address).status_code == 302


def test_a_file_is_shown_first_and_added_then(address: str, project: Project, manager, as_user) -> None:
    client = as_user(manager)
    page = page_of(client.post(address, sent()))
    assert "new.csv has 2 outputs for 2 of 3 items" in page
    assert "1 text is new, 1 is in the data set already." in page
    assert not System.objects.filter(name="New").exists()

    kept = KeptFile.objects.get()
    answer = client.post(address, {"kept": f"file-{kept.pk}", "system": "New", "action": "store"}, follow=True)
    assert "2 outputs of New added." in page_of(answer)
    assert answer.redirect_chain == [(reverse("annotation:dataset-detail", args=[project.slug, "small"]), 302)]
    assert ResponseSource.objects.filter(system__name="New").count() == 2
    assert not KeptFile.objects.exists()
    again = client.post(address, sent(action="store"))
    assert "the data set has one already" in page_of(again)


def test_mistakes_are_shown_at_their_rows_and_fields(address: str, manager, as_user) -> None:
    client = as_user(manager)
    refused = page_of(client.post(address, sent("item_id,text\n9,Hi.\n1,\n")))
    for words in ("Nothing was imported", "the id of an item of the data set, such as 1, 2, 3", ">3<"):
        assert words in refused
    assert "the name of the system whose outputs these are" in page_of(client.post(address, sent(system="")))
    assert "choose one" in page_of(client.post(address, sent(file=SimpleUploadedFile("new.doc", b"x"))))
    large = client.post(address, sent("x" * (PAGE_BYTES + 1)))
    assert "or a larger one by manage.py add_outputs" in page_of(large)


def test_a_data_set_offers_it_and_launched_campaigns_stay_as_they_are(project, manager, viewer, as_user) -> None:
    campaign = make_campaign(make_dataset(project))
    dataset = campaign.dataset
    units = list(UnitResponse.objects.order_by("pk").values())
    detail = reverse("annotation:dataset-detail", args=[project.slug, dataset.slug])
    address = reverse("annotation:dataset-outputs", args=[project.slug, dataset.slug])
    client = as_user(manager)
    assert "what they rate was fixed at their launch" in page_of(client.get(address))
    item = dataset.items.first().external_id
    client.post(address, sent(f"item_id,text\n{item},Something else.\n", action="store"))
    assert Response.objects.filter(text="Something else.").exists()
    assert list(UnitResponse.objects.order_by("pk").values()) == units

    ResponseSource.objects.filter(system__dataset=dataset).delete()
    System.objects.filter(dataset=dataset).delete()
    assert page_of(client.get(detail)).count(address) == 1
    page = page_of(as_user(viewer).get(detail))
    assert "This data set has no system outputs." in page
    assert address not in page


def test_the_command_adds_outputs_or_names_every_error(address: str, project, manager, tmp_path) -> None:
    path = tmp_path / "new.csv"
    options = ("--project", project.slug, "--user", manager.username, "--dataset", "small")

    def run(text: str, *more: str) -> tuple[str, str]:
        path.write_text(text)
        out, err = StringIO(), StringIO()
        try:
            call_command("add_outputs", str(path), *options, *more, stdout=out, stderr=err)
        except CommandError as error:
            return out.getvalue(), f"{error}\n{err.getvalue()}"
        return out.getvalue(), err.getvalue()

    _, errors = run("item_id,text\n9,Hi.\n1,\n", "--system", "New")
    assert "new.csv, line 2, field item_id: found 9" in errors
    assert "new.csv, line 3, field text: found nothing" in errors
    assert "Items, of 3" in run(TABLE, "--system", "New", "--check")[0]
    assert not System.objects.filter(name="New").exists()
    assert json.loads(run(TABLE, "--system", "New", "--json")[0])["new_responses"] == 1
    assert System.objects.filter(name="New").exists()
