"""Every page of a campaign with all kinds of records, on a light desktop and on a dark phone."""

import pytest
from django.urls import reverse

from annotation.campaigns.services.copies import campaign_clone
from annotation.campaigns.services.rules import rules_register
from annotation.models import AuditEntry
from annotation.quality.services.decisions import rater_flag
from annotation.quality.services.operations import campaign_extend, system_stop
from annotation.quality.services.rules import rules_apply
from annotation.rating.services.handout import unit_request
from tests.annotation.worlds.campaigns import answer, join, make_dataset
from tests.annotation.worlds.designed import QUALITY, make_designed
from tests.browser.support import PHONE, TALLEST, assert_everyone_can_read, sign_in

pytestmark = pytest.mark.django_db(transaction=True)

PAGES = [
    "campaign-detail",
    "campaign-design",
    "campaign-ratings",
    "campaign-raters",
    "campaign-quality",
    "campaign-quality-rules",
    "campaign-dry-runs",
    "campaign-clone",
    "campaign-records",
    "campaign-record-methods",
    "campaign-record-datasheet",
    "campaign-audit",
]
PROJECT_PAGES = [
    "project-detail",
    "campaign-list",
    "campaign-create",
    "campaign-import",
    "campaign-compare",
    "project-audit",
    "project-notifications",
    "rater-held",
]
OPERATIONS = ["extend", "stop-system", "resume-system", "add-items", "replace-excluded", "reopen-unjudged"]
STEPS = ["what", "screen", "words", "raters", "quality", "review"]
RULES = [{"rule": "gold_accuracy_below", "version": 1, "action": "exclude", "accuracy": 0.6, "after": 1}]


@pytest.fixture
def campaign(project, manager):
    """Create a campaign with a flag, applied rules, an extension and a stopped system."""
    quality = QUALITY | {"every": 3, "mix": {"gold": 1}}
    campaign = make_designed(make_dataset(project, items=2), quality=quality, ratings_per_unit=2)
    for name, value in (("ann", 4), ("bob", 1)):
        rater = join(campaign, name)
        while (shown := unit_request(campaign=campaign, rater=rater)) is not None:
            answer(shown, value)
    rater_flag(campaign=campaign, rater=rater, reason="Always the same.", by=manager)
    rules_apply(campaign=campaign, rules=rules_register(campaign=campaign, records=RULES, by=manager), by=manager)
    campaign_extend(campaign=campaign, ratings_per_unit=3, by=manager)
    system_stop(campaign=campaign, system=campaign.dataset.systems.first(), by=manager)
    return campaign


def addresses(campaign):
    """Return the URL of every page that is read with GET."""
    slug, campaign_args = campaign.project.slug, (campaign.project.slug, campaign.pk)
    rater = campaign.participations.order_by("pk").last().rater_id
    of_campaign = [reverse(f"annotation:{name}", args=campaign_args) for name in PAGES]
    of_project = [reverse(f"annotation:{name}", args=[slug]) for name in PROJECT_PAGES]
    draft = campaign_clone(campaign=campaign, name="Twin")
    compared = f"{reverse('annotation:campaign-compare', args=[slug])}?left={campaign.pk}&right={draft.pk}"
    steps = [reverse("annotation:campaign-step", args=[slug, draft.pk, step]) for step in STEPS]
    applied = AuditEntry.objects.get(campaign=campaign, verb="rules.apply").pk
    return [
        *of_campaign,
        *of_project,
        compared,
        *steps,
        *(reverse("annotation:campaign-operation", args=[*campaign_args, name]) for name in OPERATIONS),
        f"{reverse('annotation:campaign-operation', args=[*campaign_args, 'extend'])}?ratings_per_unit=4",
        reverse("annotation:campaign-rater", args=[*campaign_args, rater]),
        reverse("annotation:rater-erase", args=[slug, rater]),
        reverse("annotation:campaign-quality-apply", args=[*campaign_args, 1]),
        f"{reverse('annotation:campaign-quality', args=campaign_args)}?replay={applied}",
    ]


def test_every_page_of_a_campaign_is_accessible(live_server, new_page, owner, campaign):
    page = new_page(**PHONE)
    sign_in(page, live_server.url, owner.username, "password")
    for address in addresses(campaign):
        page.goto(f"{live_server.url}{address}")
        assert_everyone_can_read(page, tallest=TALLEST)
