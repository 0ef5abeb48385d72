import pytest
from django.contrib import admin
from django.urls import reverse

from annotation.models import Campaign, Project, User
from tests.annotation.datasets import example_dataset, example_ratings


@pytest.fixture
def superuser(db: None) -> User:
    return User.objects.create_superuser("root-of-all", password="password")


def test_every_list_and_a_row_of_each_can_be_looked_at(as_user, superuser: User, project: Project) -> None:
    example_ratings(example_dataset(project))
    client = as_user(superuser)
    models = [model for model in admin.site._registry if model._meta.app_label == "annotation"]
    assert len(models) >= 13
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


def test_it_is_for_staff_alone(as_user, owner: User) -> None:
    assert as_user(owner).get(reverse("admin:annotation_project_changelist")).status_code == 302
