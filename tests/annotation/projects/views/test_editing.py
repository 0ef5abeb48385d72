"""Two managers change one thing at once: the second sees what the first changed, and overwrites nothing unseen."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.core.errors import Overtaken
from annotation.datasets.services.datasets import DESCRIBED, dataset_update
from annotation.models import AuditEntry, Datasheet, Project, Role, User
from annotation.projects.services.editing import columns_of, version_of
from annotation.recruitment.services.accounts import account_connect, secrets_of
from annotation.references.sets.services import reference_set_create
from scripts.fuzz.forms import Page
from tests.annotation.worlds.campaigns import make_campaign, make_dataset
from tests.annotation.worlds.recruited import make_recruitment
from tests.conftest import _member
from tests.races import race

AsUser = Callable[[User], Client]
TOKEN = "first-token"


def shown(client: Client, url: str, field: str) -> dict[str, Any]:
    """Return what the form with this field would send, untouched."""
    page = Page(url, fills=False)
    page.feed(client.get(url).content.decode())
    form = next(form for form in page.forms if any(name == field for name, _ in form.pairs))
    values: dict[str, Any] = {}
    for name, value in form.pairs:
        values[name] = [*values[name], value] if name in values else [value]
    return values


def places(project: Project) -> Iterator[tuple[str, str, str, Callable[[], object]]]:
    """Yield for everything that can be edited: its page, two of its inputs, and how the first is stored."""
    campaign = make_campaign(make_dataset(project), payment_per_unit="1.00", payment_currency="GBP")
    references = reference_set_create(
        dataset=campaign.dataset, name="Gold", campaigns=[campaign], source_kinds=["human"]
    )
    recruitment = make_recruitment(campaign, None)
    account = account_connect(
        project=project, provider="prolific", name="Lab", values={"token": TOKEN, "workspace": "a1" * 12}
    )

    def stored(row: Any, name: str) -> Callable[[], object]:
        return lambda: getattr(type(row).objects.get(pk=row.pk), name)

    def page(name: str, *args: object) -> str:
        return reverse(f"annotation:{name}", args=[project.slug, *args])

    yield page("dataset-edit", campaign.dataset.slug), "description", "licence", stored(campaign.dataset, "description")
    yield page("project-edit"), "description", "name", stored(project, "description")
    yield page("reference-set-edit", references.slug), "description", "name", stored(references, "description")
    yield page("provider-account", account.pk), "name", "workspace", stored(account, "name")
    edit = page("campaign-recruitment-edit", campaign.pk, recruitment.pk)
    yield edit, "name", "description", stored(recruitment, "name")
    sheet = lambda: Datasheet.objects.get(campaign=campaign).answers["5.1"]["text"]  # noqa: E731
    yield page("campaign-record-datasheet", campaign.pk), "text-5.1", "text-5.2", sheet


def test_the_last_save_does_not_win_unseen_on_any_page(project: Project, owner: User, as_user: AsUser) -> None:
    first, second = as_user(_member(project, "ada", Role.OWNER)), as_user(owner)
    for url, field, other, stored in places(project):
        theirs, mine = shown(first, url, field), shown(second, url, field)
        assert first.post(url, theirs | {field: "Ada’s words"}).status_code == 302, url
        mine |= {field: "My words", other: ["a2" * 12]}
        page = second.post(url, mine).content.decode()
        assert "ada changed this meanwhile to “Ada’s words”." in page, url
        assert "My words" in page, url
        assert "a2" * 12 in page, url
        assert "Save again to replace what is marked below" in page, url
        assert stored() == "Ada’s words", url
        again = Page(url)
        again.feed(page)
        version = next(value for form in again.forms for name, value in form.pairs if name == "version")
        assert second.post(url, mine | {"version": version}).status_code == 302, url
        assert stored() == "My words", url


def test_what_was_left_alone_undoes_no_change_and_the_same_change_twice_is_none(
    project: Project, owner: User, as_user: AsUser
) -> None:
    first, second = as_user(_member(project, "ada", Role.OWNER)), as_user(owner)
    dataset = make_dataset(project)
    url = reverse("annotation:dataset-edit", args=[project.slug, dataset.slug])
    theirs, mine = shown(first, url, "licence"), shown(second, url, "licence")
    assert first.post(url, theirs | {"licence": "CC BY 4.0"}).status_code == 302
    for _ in range(2):  # a double click
        assert second.post(url, mine | {"description": "Chats."}).status_code == 302
    dataset.refresh_from_db()
    assert (dataset.licence, dataset.description) == ("CC BY 4.0", "Chats.")
    assert [
        (entry.actor.username, entry.data["fields"]) for entry in AuditEntry.objects.filter(verb="dataset.update")
    ] == [
        ("olga-owner", ["description"]),
        ("ada", ["licence"]),
    ]


def test_a_token_replaced_meanwhile_is_not_replaced_unseen_and_never_shown(
    project: Project, owner: User, as_user: AsUser
) -> None:
    first, second = as_user(_member(project, "ada", Role.OWNER)), as_user(owner)
    account = account_connect(
        project=project, provider="prolific", name="Lab", values={"token": TOKEN, "workspace": "a1" * 12}
    )
    url = reverse("annotation:provider-account", args=[project.slug, account.pk])
    theirs, mine = shown(first, url, "name"), shown(second, url, "name")
    assert first.post(url, theirs | {"token": "adas-token"}).status_code == 302
    page = second.post(url, mine | {"token": "my-token"}).content.decode()
    assert "secrets: ada changed this meanwhile." in page
    account.refresh_from_db()
    assert secrets_of(account)["token"] == "adas-token"
    assert account.secrets not in page
    assert second.post(url, mine | {"name": "Other name"}).status_code == 302, "it keeps the token"
    account.refresh_from_db()
    assert (secrets_of(account)["token"], account.name) == ("adas-token", "Other name")


@pytest.mark.parametrize("address", ["", "datasets/chat/", "reference-sets/gold/"])
def test_the_api_answers_409_to_a_change_of_what_another_person_changed(
    project: Project, owner: User, as_user: AsUser, address: str
) -> None:
    campaign = make_campaign(make_dataset(project))
    reference_set_create(dataset=campaign.dataset, name="Gold", campaigns=[campaign], source_kinds=["human"])
    first, second = as_user(_member(project, "ada", Role.OWNER)), as_user(owner)
    url = f"/api/v1/projects/{project.slug}/{address}"
    version = second.get(url).json()["version"]

    def patch(client: Client, **change: str) -> Any:
        return client.patch(url, change, content_type="application/json")

    changed = patch(first, description="Ada’s", version=version).json()
    assert changed["version"] != version
    refused = patch(second, description="Mine", version=version)
    assert (refused.status_code, refused.json()["detail"]) == (
        409,
        "ada changed this after you read it: description. Nothing of yours was saved.",
    )
    assert second.get(url).json()["description"] == "Ada’s"
    assert patch(second, name="Another name", version=version).status_code == 200, "of another field"
    assert patch(second, description="Mine", version=changed["version"]).json()["description"] == "Mine"


@pytest.mark.django_db(transaction=True)
def test_of_two_saves_at_the_same_moment_the_second_is_refused(project: Project) -> None:
    dataset = make_dataset(project)
    seen = version_of(columns_of(dataset, DESCRIBED))
    first, second = race(
        lambda: dataset_update(dataset=dataset, seen=seen, description="First"),
        lambda: dataset_update(dataset=dataset, seen=seen, description="Second"),
    )
    assert first.description == "First"
    assert isinstance(second, Overtaken), second
    assert "Another user changed this meanwhile to “First”." in second.fields["description"]
