"""Campaigns created from a template, another campaign or a file; and comparing two campaigns."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.campaigns.design.templates import ALL_TEMPLATES
from annotation.models import Campaign, Project, User
from tests.annotation.worlds.campaigns import RELEVANCE, make_campaign, make_dataset

AsUser = Callable[[User], Client]


def url(name: str, *arguments: object) -> str:
    return reverse(f"annotation:campaign-{name}", args=arguments)


def page(response: Any) -> str:
    return str(response.content.decode())


def test_outsiders_and_viewers_cannot_create_campaigns(
    outsider: User, viewer: User, as_user: AsUser, project: Project
) -> None:
    campaign = make_campaign(make_dataset(project))
    for address in (url("create", project.slug), url("import", project.slug), url("clone", project.slug, campaign.pk)):
        assert as_user(outsider).get(address).status_code == 404
        assert as_user(viewer).get(address).status_code == 403
    assert as_user(outsider).get(url("compare", project.slug)).status_code == 404
    assert as_user(viewer).get(url("compare", project.slug)).status_code == 200


@pytest.mark.parametrize("template", [template.slug for template in ALL_TEMPLATES])
def test_each_template_creates_a_draft(manager: User, as_user: AsUser, project: Project, template: str) -> None:
    dataset = make_dataset(project)
    client = as_user(manager)
    assert f'value="{template}"' in page(client.get(url("list", project.slug)))
    assert f'value="{template}"' in page(client.get(url("create", project.slug)))
    created = client.post(url("create", project.slug), {"dataset": dataset.pk, "template": template})
    campaign = Campaign.objects.get()
    assert created.headers["Location"] == url("step", project.slug, campaign.pk, "what")
    client.post(url("create", project.slug), {"dataset": dataset.pk, "template": template})
    assert Campaign.objects.count() == 2  # the second has another name
    assert as_user(manager).get(created.headers["Location"]).status_code == 200


def test_a_template_that_does_not_fit_is_refused_with_the_reason(
    manager: User, as_user: AsUser, project: Project
) -> None:
    dataset = make_dataset(project, systems=["Ada"])
    client, address = as_user(manager), url("create", project.slug)
    refused = client.post(address, {"dataset": dataset.pk, "template": "delta-bleu-systems"})
    assert "compares two systems" in page(refused)
    assert "accepted: delta-bleu-systems" in page(client.post(address, {"dataset": dataset.pk, "template": "x"}))
    assert not Campaign.objects.exists()


def test_without_a_data_set_no_campaign_can_be_created(manager: User, as_user: AsUser, project: Project) -> None:
    assert "There is no data set yet" in page(as_user(manager).get(url("create", project.slug)))


def test_a_launched_campaign_is_cloned(manager: User, as_user: AsUser, project: Project) -> None:
    campaign = make_campaign(make_dataset(project), completion_code="SECRET")
    client, address = as_user(manager), url("clone", project.slug, campaign.pk)
    assert 'value="Replies (2)"' in page(client.get(address))
    cloned = client.post(address, {"name": "Again", "dataset": campaign.dataset_id})
    clone = Campaign.objects.get(name="Again")
    assert cloned.headers["Location"] == url("step", project.slug, clone.pk, "review")
    assert (clone.state, clone.completion_code, clone.criteria.get().question) == ("draft", "", RELEVANCE.question)
    assert "named &#x27;Again&#x27; already" in page(
        client.post(address, {"name": "Again", "dataset": campaign.dataset_id})
    )


def test_an_exported_campaign_is_imported_and_mismatches_are_named(
    manager: User, as_user: AsUser, project: Project
) -> None:
    dataset = make_dataset(project)
    campaign = make_campaign(dataset, systems=list(dataset.systems.filter(name__in=["Ada", "Bo"])))
    client = as_user(manager)
    exported = client.get(url("export", project.slug, campaign.pk))
    assert "attachment" in exported.headers["Content-Disposition"]
    text = page(exported)
    assert json.loads(text)["systems"] == ["Ada", "Bo"]

    def send(text: str, dataset: Any) -> Any:
        file = SimpleUploadedFile("campaign.json", text.encode())
        return client.post(url("import", project.slug), {"dataset": dataset.pk, "name": "", "file": file})

    other_dataset = make_dataset(project, systems=["Ada"], name="other")
    refused = page(send(text, other_dataset))
    assert "has no system named &#x27;Bo&#x27;" in refused
    assert "Found no JSON" in page(send("{", dataset))
    assert "accepted: 1" in page(send("{}", dataset))
    assert Campaign.objects.count() == 1
    send(text, dataset)
    assert Campaign.objects.get(name="Replies (2)").systems.count() == 2


def test_two_campaigns_are_compared(viewer: User, as_user: AsUser, project: Project) -> None:
    dataset = make_dataset(project)
    first = make_campaign(dataset, name="one", instructions="Read well.")
    second = make_campaign(dataset, name="two", ratings_per_unit=9, launch=False, instructions="Read well.")
    client, address = as_user(viewer), url("compare", project.slug)
    comparison = page(client.get(address, {"left": first.pk, "right": second.pk}))
    assert "ratings per unit" in comparison
    assert "Read well." not in comparison
    assert "Read well." in page(client.get(address, {"left": first.pk, "right": second.pk, "all": "1"}))
    assert "differ" not in page(client.get(address, {"left": first.pk, "right": 10**9})).split("<main")[1]
