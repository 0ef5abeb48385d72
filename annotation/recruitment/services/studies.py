"""The life of a recruitment: created, published at the provider, paused, resumed, extended, stopped."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from django.db import transaction

from annotation.core.errors import AnnotationError
from annotation.core.races import is_kept, refused_if_taken
from annotation.models import (
    Campaign,
    CampaignState,
    ProviderAccount,
    Recruitment,
    RecruitmentState,
    ReturnPolicy,
    User,
)
from annotation.projects.services.audit import audit_record
from annotation.projects.services.editing import overtaken_check
from annotation.recruitment.providers import recruiting_provider
from annotation.recruitment.providers.base import AfterCode, Outcome, Provider, Study, StudyState
from annotation.recruitment.providers.errors import ProviderError
from annotation.recruitment.services.accounts import client_of
from annotation.recruitment.services.changes import checked_name, locked, options_change
from annotation.recruitment.services.refreshing import study_apply
from annotation.recruitment.services.terms import (
    Terms,
    codes_chosen,
    recruitment_shown,
    study_draft,
    terms_check,
    terms_of,
    terms_stored,
)


@dataclass(frozen=True)
class Change:
    """A change of state: its verb in the log, the states that it may start from, and the state after it."""

    verb: str
    accepted: tuple[RecruitmentState, ...]
    state: RecruitmentState


PUBLISH = Change("publish", (RecruitmentState.DRAFT,), RecruitmentState.PUBLISHED)
PAUSE = Change("pause", (RecruitmentState.PUBLISHED,), RecruitmentState.PAUSED)
RESUME = Change("resume", (RecruitmentState.PAUSED,), RecruitmentState.PUBLISHED)
STOP = Change("stop", (RecruitmentState.PUBLISHED, RecruitmentState.PAUSED), RecruitmentState.COMPLETED)


@transaction.atomic
def recruitment_create(
    *,
    campaign: Campaign,
    provider: str,
    name: str,
    terms: Terms,
    after: Mapping[Outcome, AfterCode],
    account: ProviderAccount | None = None,
    return_policy: str = ReturnPolicy.AT_ONCE,
    by: User | None = None,
) -> Recruitment:
    """Create a recruitment. Without an account the study is created by hand, and the link works at once."""
    if campaign.imported:
        raise AnnotationError("The ratings of this campaign were collected elsewhere: no raters can be recruited.")
    if campaign.state == CampaignState.CLOSED:
        raise AnnotationError("The campaign is closed; accepted: a campaign that is not closed.")
    if account is not None and (account.provider != provider or account.project_id != campaign.project_id):
        message = "Found another provider's account; accepted: an account of this provider."
        raise AnnotationError.at("account", message)
    if account is not None and not is_kept(account):
        raise AnnotationError.at("account", f"“{account.name}” was removed just now; accepted: another account.")
    terms = codes_chosen(terms, after)
    terms_check(terms, provider=provider, by_hand=account is None)
    recruitment = Recruitment.objects.create(
        campaign=campaign,
        account=account,
        provider=recruiting_provider(provider).key,
        name=checked_name(name, 120),
        state=RecruitmentState.DRAFT if account else RecruitmentState.PUBLISHED,
        options=terms_stored(terms),
        return_policy=ReturnPolicy(return_policy),
        created_by=by,
    )
    how = f"through “{account.name}”" if account else "by hand"
    _audit(recruitment, "create", f"Recruitment “{recruitment.name}” drafted, {how}.", by)
    recruitment.refresh_from_db()
    return recruitment


@transaction.atomic
def recruitment_update(
    *,
    recruitment: Recruitment,
    name: str,
    terms: Terms,
    after: Mapping[Outcome, AfterCode],
    return_policy: str,
    seen: str = "",
    by: User | None = None,
) -> Recruitment:
    """Change a recruitment. Once the study exists at the provider, only name and return policy change.

    With ``seen``, the ``version_of`` the terms that the user saw, no change made since is overwritten.
    """
    fresh = locked(recruitment)
    stored = recruitment_shown(fresh)
    fresh.name, fresh.return_policy = checked_name(name, 120), ReturnPolicy(return_policy)
    if not fresh.external_id:
        terms = codes_chosen(replace(terms, codes=terms_of(fresh).codes), after)
        terms_check(terms, provider=fresh.provider, by_hand=fresh.account_id is None)
        fresh.options = {**fresh.options, **terms_stored(terms)}
    changes = fresh.campaign.audit_entries.filter(verb="recruitment.update", data__recruitment=fresh.pk)
    overtaken_check(stored=stored, new=recruitment_shown(fresh), seen=seen, changes=changes, by=by)
    fresh.save(update_fields=["name", "return_policy", "options"])
    _audit(fresh, "update", f"Recruitment “{fresh.name}” changed.", by)
    return fresh


@transaction.atomic
def recruitment_discard(*, recruitment: Recruitment, by: User | None = None) -> None:
    """Delete a draft through which no rater has come."""
    fresh = locked(recruitment)
    if fresh.submissions.exists() or (fresh.account_id and fresh.state != RecruitmentState.DRAFT):
        raise AnnotationError("Raters have come through it, or it was published; accepted: a draft. Stop it instead.")
    _audit(fresh, "discard", f"Recruitment “{fresh.name}” discarded.", by)
    fresh.delete()


def recruitment_draft(*, recruitment: Recruitment, entry_url: str, by: User | None = None) -> Recruitment:
    """Create the study at the provider, unpublished; a second call returns the first study."""
    account = _account(recruitment)
    fresh = Recruitment.objects.get(pk=recruitment.pk)
    if fresh.external_id:
        return fresh
    with client_of(account, patient=False) as client:
        study = client.study_create(study_draft(fresh, entry_url=client.entry_url(entry_url)))
    with transaction.atomic():
        fresh = locked(recruitment)
        if not fresh.external_id:  # else another request was first; this draft costs nothing and stays invisible
            fresh.external_id = study.id
            fresh.options = {**fresh.options, "entry_url": entry_url, "url": study.url, "said": study.reported}
            _save_new_id(fresh)
            _audit(fresh, "draft", f"“{fresh.name}” drafted at {fresh.get_provider_display()}.", by)
    return fresh


def recruitment_publish(*, recruitment: Recruitment, entry_url: str, by: User | None = None) -> Recruitment:
    """Publish the study: from now on raters may come, and money is spent."""
    if recruitment.campaign.state != CampaignState.RUNNING:
        state = recruitment.campaign.get_state_display().lower()
        raise AnnotationError(f"The campaign is {state}; launch it or resume it before you recruit.")
    fresh = recruitment_draft(recruitment=recruitment, entry_url=entry_url, by=by)

    def publish(client: Provider) -> Study:
        url = client.entry_url(fresh.options.get("entry_url", entry_url))
        return client.study_publish(fresh.external_id, study_draft(fresh, entry_url=url))

    terms = terms_of(fresh)
    offer = f"{terms.places} places at {terms.reward} {terms.currency}"
    return _change(fresh, PUBLISH, publish, f"published: {offer}", by)


def recruitment_pause(*, recruitment: Recruitment, by: User | None = None) -> Recruitment:
    return _change(recruitment, PAUSE, lambda client: client.study_pause(recruitment.external_id), "paused", by)


def recruitment_resume(*, recruitment: Recruitment, by: User | None = None) -> Recruitment:
    def resume(client: Provider) -> Study:
        url = client.entry_url(recruitment.options.get("entry_url", ""))
        return client.study_resume(recruitment.external_id, study_draft(recruitment, entry_url=url))

    return _change(recruitment, RESUME, resume, "resumed", by)


def recruitment_stop(*, recruitment: Recruitment, by: User | None = None) -> Recruitment:
    """Stop for good; raters at work may still finish."""
    return _change(recruitment, STOP, lambda client: client.study_stop(recruitment.external_id), "stopped", by)


def recruitment_extend(*, recruitment: Recruitment, places: int, by: User | None = None) -> Recruitment:
    """Raise the number of places to ``places`` in all; a repeated call adds nothing."""
    account = _account(recruitment)
    reference = f"assay-{recruitment.link_token.hex[:24]}-to-{places}"
    with client_of(account, patient=False) as client:
        study = client.study_extend(recruitment.external_id, places=places, reference=reference)
    study_apply(recruitment=recruitment, study=study)
    with transaction.atomic():
        fresh = options_change(recruitment, places=study.places or places)
        _audit(fresh, "extend", f"“{fresh.name}” has {study.places or places} places now.", by)
    return fresh


# --- Parts ------------------------------------------------------------------------------------------------------------


def _change(
    recruitment: Recruitment, change: Change, request: Callable[[Provider], Study], summary: str, by: User | None
) -> Recruitment:
    """Change the study at the provider, then record its new state."""
    current = Recruitment.objects.select_related("account").get(pk=recruitment.pk)
    if current.state not in change.accepted:
        states = " or ".join(state.label.lower() for state in change.accepted)
        raise AnnotationError(f"The recruitment is {current.get_state_display().lower()}; accepted: {states}.")
    study = None
    if current.account is not None:
        with client_of(current.account, patient=False) as client:
            study = _request(client, current, change, request)
    with transaction.atomic():
        fresh = locked(recruitment)
        if study is not None and study.id != fresh.external_id:  # another id than the draft had
            fresh.external_id = study.id
            _save_new_id(fresh)
        if study is not None:
            study_apply(recruitment=fresh, study=_settled(study, change))
        else:
            Recruitment.objects.filter(pk=fresh.pk).update(state=change.state)
        _audit(fresh, change.verb, f"“{fresh.name}” {summary}.", by)
    fresh.refresh_from_db()
    return fresh


def _request(client: Provider, recruitment: Recruitment, change: Change, request: Callable[[Provider], Study]) -> Study:
    """Make the request; accept a refusal if an earlier request, whose answer was lost, has made the change."""
    try:
        return request(client)
    except ProviderError as error:
        if error.unknown or error.status is None or not recruitment.external_id:
            raise
        study = client.study_fetch(recruitment.external_id)
        if study.state is None or study.state.value != change.state.value:
            raise
        return study


def _settled(study: Study, change: Change) -> Study:
    """Return the study as paused if the provider has not reported it yet; a full study may report completed."""
    if change is PAUSE and study.state not in (None, StudyState.PAUSED, StudyState.COMPLETED):
        return replace(study, state=StudyState.PAUSED)
    return study


def _account(recruitment: Recruitment) -> ProviderAccount:
    if recruitment.account is None:
        raise ProviderError("This study was created by hand; accepted: a study connected with an account.")
    return recruitment.account


def _save_new_id(recruitment: Recruitment) -> None:
    message = "Another recruitment has the same study: the provider gives equal drafts one id. Change the title."
    with refused_if_taken("recruitment_external_id_once", AnnotationError(message)):
        recruitment.save(update_fields=["external_id", "options"])


def _audit(recruitment: Recruitment, act: str, summary: str, by: User | None) -> None:
    audit_record(
        verb=f"recruitment.{act}",
        summary=summary,
        campaign=recruitment.campaign,
        by=by,
        data={"recruitment": recruitment.pk},
    )
