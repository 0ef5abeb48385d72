"""A recruitment's life: drafted here, made and published at the provider, paused, resumed, extended, stopped."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from django.db import IntegrityError, transaction

from annotation.core.errors import AnnotationError
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
from annotation.recruitment.providers import Provider, recruiting_provider
from annotation.recruitment.providers.base import AfterCode, Outcome, Study, StudyState
from annotation.recruitment.providers.errors import ProviderError
from annotation.recruitment.services.accounts import client_of
from annotation.recruitment.services.refreshing import study_apply
from annotation.recruitment.services.terms import (
    Terms,
    codes_chosen,
    study_draft,
    terms_check,
    terms_of,
    terms_stored,
)

REACHED: Mapping[str, StudyState] = {
    "publish": StudyState.PUBLISHED,
    "resume": StudyState.PUBLISHED,
    "pause": StudyState.PAUSED,
    "stop": StudyState.COMPLETED,
}


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
    """Without an account the study is made by hand: its link is good from now on."""
    if campaign.imported:
        raise AnnotationError("The ratings of this campaign were collected elsewhere: nobody can be recruited.")
    if campaign.state == CampaignState.CLOSED:
        raise AnnotationError("The campaign is closed; accepted: one that can still hand out work.")
    if account is not None and (account.provider != provider or account.project_id != campaign.project_id):
        raise AnnotationError.at("account", "Found another provider's account; accepted: one of this provider's.")
    terms = codes_chosen(terms, after)
    terms_check(terms, provider=provider, by_hand=account is None)
    recruitment = Recruitment.objects.create(
        campaign=campaign,
        account=account,
        provider=recruiting_provider(provider).key,
        name=_checked_name(name),
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
    by: User | None = None,
) -> Recruitment:
    """While nothing of it is at the provider. Later only its name and the policy change."""
    fresh = _locked(recruitment)
    fresh.name, fresh.return_policy = _checked_name(name), ReturnPolicy(return_policy)
    if not fresh.external_id:
        codes = terms_of(fresh).codes
        chosen = codes_chosen(replace(terms, codes=codes), after)
        terms_check(chosen, provider=fresh.provider, by_hand=fresh.account_id is None)
        fresh.options = {**fresh.options, **terms_stored(chosen)}
    fresh.save(update_fields=["name", "return_policy", "options"])
    _audit(fresh, "update", f"Recruitment “{fresh.name}” changed.", by)
    return fresh


@transaction.atomic
def recruitment_discard(*, recruitment: Recruitment, by: User | None = None) -> None:
    """A draft that nobody has come through."""
    fresh = _locked(recruitment)
    if fresh.submissions.exists() or (fresh.account_id and fresh.state != RecruitmentState.DRAFT):
        raise AnnotationError("People have come through it, or it was published; accepted: a draft. Stop it instead.")
    _audit(fresh, "discard", f"Recruitment “{fresh.name}” discarded.", by)
    fresh.delete()


def recruitment_draft(*, recruitment: Recruitment, entry_url: str, by: User | None = None) -> Recruitment:
    """Make the study at the provider, unpublished. A second press finds the first one's."""
    account = _account(recruitment)
    fresh = Recruitment.objects.get(pk=recruitment.pk)
    if fresh.external_id:
        return fresh
    with client_of(account, patient=False) as client:
        study = client.study_create(study_draft(fresh, entry_url=client.entry_url(entry_url)))
    with transaction.atomic():
        fresh = _locked(recruitment)
        if not fresh.external_id:  # else somebody was quicker; this draft costs nothing and is seen by nobody
            fresh.external_id = study.id
            fresh.options = {**fresh.options, "entry_url": entry_url, "url": study.url, "said": study.said}
            _save_new_id(fresh)
            _audit(fresh, "draft", f"“{fresh.name}” drafted at {fresh.get_provider_display()}.", by)
    return fresh


def recruitment_publish(*, recruitment: Recruitment, entry_url: str, by: User | None = None) -> Recruitment:
    """From here on people may come, and money is spent."""
    if recruitment.campaign.state != CampaignState.RUNNING:
        state = recruitment.campaign.get_state_display().lower()
        raise AnnotationError(f"The campaign is {state}; launch it or resume it before people are sent here.")
    fresh = recruitment_draft(recruitment=recruitment, entry_url=entry_url, by=by)

    def publish(client: Provider) -> Study:
        url = client.entry_url(fresh.options.get("entry_url", entry_url))
        return client.study_publish(fresh.external_id, study_draft(fresh, entry_url=url))

    terms = terms_of(fresh)
    told = f"{terms.places} places at {terms.reward} {terms.currency}"
    return _change(fresh, (RecruitmentState.DRAFT,), "publish", publish, f"published: {told}", by)


def recruitment_pause(*, recruitment: Recruitment, by: User | None = None) -> Recruitment:
    return _change(
        recruitment,
        (RecruitmentState.PUBLISHED,),
        "pause",
        lambda client: client.study_pause(recruitment.external_id),
        "paused",
        by,
        by_hand=RecruitmentState.PAUSED,
    )


def recruitment_resume(*, recruitment: Recruitment, by: User | None = None) -> Recruitment:
    def resume(client: Provider) -> Study:
        url = client.entry_url(recruitment.options.get("entry_url", ""))
        return client.study_resume(recruitment.external_id, study_draft(recruitment, entry_url=url))

    return _change(
        recruitment,
        (RecruitmentState.PAUSED,),
        "resume",
        resume,
        "resumed",
        by,
        by_hand=RecruitmentState.PUBLISHED,
    )


def recruitment_stop(*, recruitment: Recruitment, by: User | None = None) -> Recruitment:
    """For good; whoever is at work may still finish."""
    return _change(
        recruitment,
        (RecruitmentState.PUBLISHED, RecruitmentState.PAUSED),
        "stop",
        lambda client: client.study_stop(recruitment.external_id),
        "stopped",
        by,
        by_hand=RecruitmentState.COMPLETED,
    )


def recruitment_extend(*, recruitment: Recruitment, places: int, by: User | None = None) -> Recruitment:
    """So many places in all. Saying the same number twice adds nothing."""
    account = _account(recruitment)
    reference = f"assay-{recruitment.link_token.hex[:24]}-to-{places}"
    with client_of(account, patient=False) as client:
        study = client.study_extend(recruitment.external_id, places=places, reference=reference)
    study_apply(recruitment=recruitment, study=study)
    with transaction.atomic():
        fresh = _locked(recruitment)
        fresh.options = {**fresh.options, "places": study.places or places}
        fresh.save(update_fields=["options"])
        _audit(fresh, "extend", f"“{fresh.name}” has {study.places or places} places now.", by)
    return fresh


# --- Parts ------------------------------------------------------------------------------------------------------------


def _change(
    recruitment: Recruitment,
    accepted: tuple[RecruitmentState, ...],
    act: str,
    ask: Callable[[Provider], Study],
    done: str,
    by: User | None,
    *,
    by_hand: RecruitmentState | None = None,
) -> Recruitment:
    """Ask the provider, then write down what came of it. Doing so again once it is done changes nothing."""
    found = Recruitment.objects.select_related("account").get(pk=recruitment.pk)
    if found.state not in accepted:
        states = " or ".join(state.label.lower() for state in accepted)
        raise AnnotationError(f"The recruitment is {found.get_state_display().lower()}; accepted: {states}.")
    study = None
    if found.account is not None:
        with client_of(found.account, patient=False) as client:
            study = _asked(client, found, act, ask)
    with transaction.atomic():
        fresh = _locked(recruitment)
        if study is not None and study.id != fresh.external_id:  # another id than the draft had
            fresh.external_id = study.id
            _save_new_id(fresh)
        if study is not None:
            study_apply(recruitment=fresh, study=_settled(study, act))
        elif by_hand is not None:
            Recruitment.objects.filter(pk=fresh.pk).update(state=by_hand)
        _audit(fresh, act, f"“{fresh.name}” {done}.", by)
    fresh.refresh_from_db()
    return fresh


def _asked(client: Provider, recruitment: Recruitment, act: str, ask: Callable[[Provider], Study]) -> Study:
    """Where it is refused because it was done before and the answer was lost, it is done."""
    try:
        return ask(client)
    except ProviderError as error:
        if error.unknown or error.status is None or not recruitment.external_id:
            raise
        found = client.study_fetch(recruitment.external_id)
        if found.state != REACHED[act]:
            raise
        return found


def _settled(study: Study, act: str) -> Study:
    """Return the study as paused if the provider has not reported it yet; a full study may report completed."""
    if act == "pause" and study.state not in (None, StudyState.PAUSED, StudyState.COMPLETED):
        return Study(study.id, StudyState.PAUSED, study.said, study.places, study.places_taken, study.url)
    return study


def _account(recruitment: Recruitment) -> ProviderAccount:
    if recruitment.account is None:
        raise ProviderError("This study was made by hand; accepted: one that is connected with an account.")
    return recruitment.account


def _locked(recruitment: Recruitment) -> Recruitment:
    return Recruitment.objects.select_for_update(of=("self",)).select_related("campaign").get(pk=recruitment.pk)


def _save_new_id(recruitment: Recruitment) -> None:
    try:
        with transaction.atomic():
            recruitment.save(update_fields=["external_id", "options"])
    except IntegrityError as error:
        message = "Another recruitment has the same study: the provider gives equal drafts one id. Change the title."
        raise AnnotationError(message) from error


def _checked_name(name: str) -> str:
    found = " ".join(name.split())
    if not 1 <= len(found) <= 120:
        raise AnnotationError.at("name", f"Found {len(found)} characters; accepted: 1 to 120.")
    return found


def _audit(recruitment: Recruitment, act: str, summary: str, by: User | None) -> None:
    audit_record(
        verb=f"recruitment.{act}",
        summary=summary,
        campaign=recruitment.campaign,
        by=by,
        data={"recruitment": recruitment.pk},
    )
