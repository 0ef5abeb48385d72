import pytest

from annotation.core.errors import AnnotationError
from annotation.models import AuditEntry, Campaign, Project, ProviderAccount, Recruitment
from annotation.recruitment.providers.errors import ProviderError
from annotation.recruitment.services import accounts
from annotation.recruitment.services.accounts import secrets_of
from tests.annotation.recruitment.providers.mturk.fake import FakeMechanicalTurk
from tests.annotation.recruitment.providers.prolific.fake import FakeProlific
from tests.annotation.worlds.recruited import mturk_account, prolific_account


def test_a_token_is_stored_encrypted_and_the_check_returns_the_holder(
    project: Project, fake_prolific: FakeProlific
) -> None:
    account = prolific_account(project, fake_prolific)
    stored = ProviderAccount.objects.values().get()
    assert fake_prolific.token not in str(stored)
    assert account.options["workspace"] == fake_prolific.workspace
    checked = accounts.account_check(account=account)
    assert (checked.name, checked.currency) == ("Rosa Researcher", "GBP")
    account.refresh_from_db()
    assert account.options["holder"] == "Rosa Researcher"
    assert fake_prolific.token not in str(list(AuditEntry.objects.values()))


def test_a_wrong_token_is_refused_with_a_message(project: Project, fake_prolific: FakeProlific) -> None:
    account = prolific_account(project, fake_prolific)
    accounts.account_update(
        account=account, name="Lab", values={"token": "wrong", "workspace": "w"}, endpoint=fake_prolific.base_url
    )
    with pytest.raises(ProviderError, match="does not accept this token"):
        accounts.account_check(account=ProviderAccount.objects.get())


def test_an_empty_secret_field_keeps_the_secret_and_a_new_one_replaces_it(
    project: Project, fake_prolific: FakeProlific
) -> None:
    account = prolific_account(project, fake_prolific)
    values = {"token": "", "workspace": "another"}
    account = accounts.account_update(account=account, name="Lab 2", values=values, endpoint=fake_prolific.base_url)
    assert secrets_of(account) == {"token": fake_prolific.token}
    assert account.options["workspace"] == "another"
    account = accounts.account_update(account=account, name="Lab 2", values={**values, "token": "new"})
    assert secrets_of(account) == {"token": "new"}


def test_a_fallback_secret_key_opens_credentials_sealed_with_it(
    project: Project, fake_prolific: FakeProlific, settings
) -> None:
    account = prolific_account(project, fake_prolific)
    former, settings.SECRET_KEY = settings.SECRET_KEY, "another key, as long as such keys ought to be, 0123456789"
    with pytest.raises(ProviderError, match="Enter the credentials of this account again"):
        secrets_of(account)
    settings.SECRET_KEY_FALLBACKS = [former]
    assert secrets_of(account) == {"token": fake_prolific.token}
    settings.SECRET_KEY_FALLBACKS = []
    values = {"token": "typed-again", "workspace": fake_prolific.workspace}
    assert secrets_of(accounts.account_update(account=account, name="Lab", values=values)) == {"token": "typed-again"}


def test_two_accounts_of_a_project_cannot_have_the_same_name(project: Project, fake_prolific: FakeProlific) -> None:
    prolific_account(project, fake_prolific)
    with pytest.raises(AnnotationError, match="another account") as refusal:
        prolific_account(project, fake_prolific)
    assert "name" in refusal.value.fields


def test_invalid_credentials_are_refused_at_their_field(project: Project) -> None:
    with pytest.raises(AnnotationError) as refusal:
        accounts.account_connect(
            project=project, provider="prolific", name="Lab", values={"token": "two words", "workspace": "w"}
        )
    assert list(refusal.value.fields) == ["token"]
    with pytest.raises(AnnotationError) as refusal:
        accounts.account_connect(project=project, provider="mturk", name="Turk", values={"access_key": "A"})
    assert list(refusal.value.fields) == ["secret_key"]


def test_messages_are_subscribed_to_once_and_the_signing_secret_is_stored_sealed(
    project: Project, fake_prolific: FakeProlific
) -> None:
    account = prolific_account(project, fake_prolific)
    for _ in range(2):
        account = accounts.account_receive_messages(account=account, url="http://127.0.0.1:1/providers/1/webhook")
    assert len(fake_prolific.subscriptions) == 2
    assert secrets_of(account)["webhook_secret"] == fake_prolific.secrets[fake_prolific.workspace]
    assert fake_prolific.secrets[fake_prolific.workspace] not in ProviderAccount.objects.get().secrets
    # A new token does not remove it.
    values = {"token": "new", "workspace": fake_prolific.workspace}
    account = accounts.account_update(account=account, name="Lab", values=values)
    assert secrets_of(account)["webhook_secret"] == fake_prolific.secrets[fake_prolific.workspace]


def test_an_account_in_use_cannot_be_removed(study: Recruitment, project: Project, fake_prolific: FakeProlific) -> None:
    assert study.account is not None
    with pytest.raises(AnnotationError, match="1 recruitment"):
        accounts.account_remove(account=study.account)
    unused = accounts.account_connect(
        project=project, provider="prolific", name="Other", values={"token": "t", "workspace": "w"}
    )
    accounts.account_remove(account=unused)
    assert list(ProviderAccount.objects.all()) == [study.account]


def test_mechanical_turk_is_connected_with_two_keys(campaign: Campaign, fake_mturk: FakeMechanicalTurk) -> None:
    account = mturk_account(campaign.project, fake_mturk)
    assert accounts.account_check(account=account).currency == "USD"
    assert fake_mturk.secret_key not in str(ProviderAccount.objects.values().get())
