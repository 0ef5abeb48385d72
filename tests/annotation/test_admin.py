import pytest
from django.contrib import admin
from django.urls import reverse

from annotation.campaigns.services.rules import rules_register
from annotation.models import (
    Amendment,
    AuditEntry,
    Campaign,
    Comment,
    Participation,
    Project,
    ProviderAccount,
    ProviderEvent,
    QualityRules,
    RaterDecision,
    Recruitment,
    Submission,
    User,
)
from annotation.projects.services.api_tokens import api_token_create
from annotation.quality.services.decisions import rater_flag
from annotation.quality.services.operations import campaign_extend
from annotation.rating.services.ratings import ratings_submit
from tests.annotation.worlds.campaigns import join, make_campaign, make_dataset, rate_next
from tests.annotation.worlds.datasets import example_dataset, example_ratings

LOGS = (
    Amendment,
    AuditEntry,
    Comment,
    Participation,
    ProviderAccount,
    ProviderEvent,
    QualityRules,
    RaterDecision,
    Recruitment,
    Submission,
)


@pytest.fixture
def superuser(db: None) -> User:
    return User.objects.create_superuser("root-of-all", password="password")


def test_every_list_and_a_row_of_each_can_be_looked_at(as_user, superuser: User, project: Project) -> None:
    example_ratings(example_dataset(project))
    client = as_user(superuser)
    models = [model for model in admin.site._registry if model._meta.app_label == "annotation"]
    assert len(models) >= 25
    for model in models:
        name = f"admin:annotation_{model._meta.model_name}"
        assert client.get(reverse(f"{name}_changelist")).status_code == 200, model
        if row := model._default_manager.first():
            assert client.get(reverse(f"{name}_change", args=[row.pk])).status_code == 200, model


def test_ratings_and_campaigns_cannot_be_changed_there(as_user, superuser: User, project: Project) -> None:
    campaign = example_ratings(example_dataset(project))
    client = as_user(superuser)
    for name, row in (("campaign", campaign), ("rating", campaign.ratings.first())):
        assert client.post(reverse(f"admin:annotation_{name}_change", args=[row.pk]), {"name": "x"}).status_code == 403
        assert (
            client.post(reverse(f"admin:annotation_{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403
        )
    assert Campaign.objects.get().name == campaign.name


def test_what_the_project_wrote_down_about_itself_can_be_looked_at(
    as_user, superuser: User, project: Project, owner: User
) -> None:
    """One row of each log, so that every list and detail page is drawn with something in it."""
    campaign = make_campaign(make_dataset(project), comment="optional")
    rater = join(campaign, "ann")
    shown = rate_next(campaign, rater)
    ratings_submit(token=shown.token, rater=rater, values={(0, "relevance"): 4}, comment="Hard to tell.")
    rater_flag(campaign=campaign, rater=rater, reason="Looks odd.", by=owner)
    campaign_extend(campaign=campaign, ratings_per_unit=5, by=owner)
    rules_register(campaign=campaign, records=[], by=owner)
    account = ProviderAccount.objects.create(project=project, provider="prolific", name="Ours", secrets="hush-hush")
    ProviderEvent.objects.create(account=account, event_id="e1", kind="submission.status.change")
    recruitment = Recruitment.objects.create(campaign=campaign, account=account, provider="prolific", name="Study")
    Submission.objects.create(recruitment=recruitment, rater=rater, external_id="s1")
    client = as_user(superuser)
    for model in LOGS:
        name, row = f"admin:annotation_{model._meta.model_name}", model.objects.first()
        assert row is not None, model
        assert client.get(reverse(f"{name}_changelist")).status_code == 200, model
        page = client.get(reverse(f"{name}_change", args=[row.pk]))
        assert (page.status_code, "hush-hush" in page.text) == (200, False), model
        assert client.post(reverse(f"{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403, model


def test_no_page_shows_an_api_token(as_user, superuser: User, manager: User) -> None:
    row, token = api_token_create(user=manager, name="Nightly import")
    client = as_user(superuser)
    own = [reverse(f"admin:annotation_apitoken_{name}", args=[row.pk]) for name in ("change", "history")]
    user = ["admin:annotation_user_change", "admin:annotation_user_delete", "admin:annotation_user_history"]
    pages = own + [reverse(name, args=[manager.pk]) for name in user]
    pages += [reverse(name) for name in ("admin:annotation_apitoken_changelist", "admin:index")]
    answers = [client.get(page) for page in pages]
    chosen = {"action": "delete_selected", "_selected_action": [manager.pk]}
    answers.append(client.post(reverse("admin:annotation_user_changelist"), chosen))
    for answer in answers:
        assert (answer.status_code, token in answer.text, row.digest in answer.text) == (200, False, False)
    assert "Nightly import" in answers[0].text


def test_it_is_for_staff_alone(as_user, owner: User) -> None:
    assert as_user(owner).get(reverse("admin:annotation_project_changelist")).status_code == 302
