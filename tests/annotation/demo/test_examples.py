"""Example projects: one for each aim, made in one click, ready to be launched."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaigns.design.scale_words import follows
from annotation.campaigns.services.lifecycle import campaign_launch
from annotation.campaigns.services.readiness import launch_report
from annotation.core.errors import AnnotationError
from annotation.demo.services import EXAMPLES, example_create
from annotation.models import Campaign, CampaignState, Membership, Project, Role, User

pytestmark = pytest.mark.django_db
AsUser = Callable[[User], Client]


@pytest.mark.parametrize("template", EXAMPLES)
def test_the_example_of_each_aim_can_be_launched(template: str, outsider: User) -> None:
    draft = example_create(template=template, by=outsider)
    assert Membership.objects.get(project=draft.project).user == outsider
    assert Membership.objects.get(project=draft.project).role == Role.OWNER
    assert draft.dataset.licence
    report = launch_report(draft)
    assert (report.problems, report.units > 10) == ([], True)
    assert follows(draft.instructions, list(draft.criteria.all()))
    assert campaign_launch(campaign=draft, by=outsider).state == CampaignState.RUNNING


def test_an_unknown_aim_makes_nothing(outsider: User) -> None:
    for template in ("x", "x" * 1_000_000):
        with pytest.raises(AnnotationError, match="accepted: delta-bleu-systems") as refused:
            example_create(template=template, by=outsider)
        assert len(refused.value.message) < 2000
    assert not Project.objects.filter(name__startswith="Example").exists()


def test_one_click_opens_the_review_of_the_draft(outsider: User, as_user: AsUser) -> None:
    client, address = as_user(outsider), reverse("annotation:example-list")
    assert address in client.get(reverse("annotation:project-list")).content.decode()
    listed = client.get(address).content.decode()
    assert all(f'value="{template}"' in listed for template in EXAMPLES)
    made = client.post(address, {"template": "delta-bleu-systems"}, follow=True)
    assert "Ready to be launched" in made.content.decode()
    again = client.post(address, {"template": "delta-bleu-systems"})
    campaign = Campaign.objects.latest("pk")
    assert campaign.project.slug in again["Location"]
    assert Campaign.objects.values("project").distinct().count() == 2
    assert "accepted: delta-bleu-systems" in client.post(address, {"template": "x"}).content.decode()
    assert "/accounts/login/" in Client().post(address, {"template": "blank"})["Location"]
