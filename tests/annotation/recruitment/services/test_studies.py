from dataclasses import replace
from decimal import Decimal

import pytest

from annotation.campaigns.services.lifecycle import campaign_pause
from annotation.core.errors import AnnotationError
from annotation.models import AuditEntry, Campaign, Recruitment, RecruitmentState, Unit
from annotation.recruitment.providers.base import AfterCode, Outcome
from annotation.recruitment.providers.errors import ProviderError
from annotation.recruitment.services import refreshing, studies
from annotation.recruitment.services.terms import expected_screens, terms_of, warnings_of
from tests.annotation.recruitment.providers.mturk.fake import FakeMechanicalTurk
from tests.annotation.recruitment.providers.prolific.fake import FakeProlific
from tests.annotation.worlds.campaigns import make_campaign, make_dataset
from tests.annotation.worlds.recruited import make_recruitment, mturk_account, prolific_account

ENTRY = "http://127.0.0.1:8000/r/in/x/"


def test_a_study_is_drafted_and_published_once(campaign: Campaign, fake_prolific: FakeProlific) -> None:
    recruitment = make_recruitment(campaign, prolific_account(campaign.project, fake_prolific), publish=False)
    assert fake_prolific.studies == {}
    recruitment = studies.recruitment_draft(recruitment=recruitment, entry_url=ENTRY)
    studies.recruitment_draft(recruitment=recruitment, entry_url=ENTRY)
    (study,) = fake_prolific.studies.values()
    assert study["status"] == "UNPUBLISHED"
    assert study["reward"] == 250
    assert {code["code"] for code in study["completion_codes"]} == {code.code for code in terms_of(recruitment).codes}
    recruitment = studies.recruitment_publish(recruitment=recruitment, entry_url=ENTRY)
    assert study["status"] == "ACTIVE"
    assert recruitment.state == RecruitmentState.PUBLISHED
    with pytest.raises(AnnotationError, match="is published; accepted: draft"):
        studies.recruitment_publish(recruitment=recruitment, entry_url=ENTRY)


def test_pausing_resuming_and_stopping_happen_at_prolific_too(study: Recruitment, fake_prolific: FakeProlific) -> None:
    stored = fake_prolific.studies[study.external_id]
    assert studies.recruitment_pause(recruitment=study).state == RecruitmentState.PAUSED
    assert stored["status"] == "PAUSED"
    assert studies.recruitment_resume(recruitment=study).state == RecruitmentState.PUBLISHED
    study = studies.recruitment_stop(recruitment=study)
    assert study.state == RecruitmentState.COMPLETED
    assert stored["status"] == "AWAITING REVIEW"
    verbs = list(AuditEntry.objects.filter(verb__startswith="recruitment.").values_list("verb", flat=True))
    assert set(verbs) >= {f"recruitment.{act}" for act in ("create", "draft", "publish", "pause", "resume", "stop")}


def test_a_stopped_hit_stays_completed_though_amazon_calls_it_expired(
    hit: Recruitment, fake_mturk: FakeMechanicalTurk
) -> None:
    assert hit.state == RecruitmentState.PUBLISHED
    assert hit.external_id in fake_mturk.hits
    assert studies.recruitment_pause(recruitment=hit).state == RecruitmentState.PAUSED
    hit = studies.recruitment_stop(recruitment=hit)
    refreshing.recruitment_refresh(recruitment=hit)
    hit.refresh_from_db()
    assert hit.state == RecruitmentState.COMPLETED


@pytest.mark.parametrize("after", [False, True])
def test_publishing_works_after_a_lost_answer(campaign: Campaign, fake_prolific: FakeProlific, after: bool) -> None:
    recruitment = make_recruitment(campaign, prolific_account(campaign.project, fake_prolific), publish=False)
    recruitment = studies.recruitment_draft(recruitment=recruitment, entry_url=ENTRY)
    fake_prolific.drop(where="transition", after=after)
    try:
        recruitment = studies.recruitment_publish(recruitment=recruitment, entry_url=ENTRY)
    except ProviderError:
        recruitment = studies.recruitment_publish(recruitment=recruitment, entry_url=ENTRY)
    assert recruitment.state == RecruitmentState.PUBLISHED
    assert [study["status"] for study in fake_prolific.studies.values()] == ["ACTIVE"]


def test_a_study_published_at_prolific_is_recognised(campaign: Campaign, fake_prolific: FakeProlific) -> None:
    recruitment = make_recruitment(campaign, prolific_account(campaign.project, fake_prolific), publish=False)
    recruitment = studies.recruitment_draft(recruitment=recruitment, entry_url=ENTRY)
    fake_prolific.studies[recruitment.external_id]["status"] = "ACTIVE"
    recruitment = studies.recruitment_publish(recruitment=recruitment, entry_url=ENTRY)
    assert recruitment.state == RecruitmentState.PUBLISHED


def test_too_little_money_keeps_the_draft(campaign: Campaign, fake_prolific: FakeProlific) -> None:
    fake_prolific.balance = 1
    recruitment = make_recruitment(campaign, prolific_account(campaign.project, fake_prolific), publish=False)
    with pytest.raises(ProviderError, match="enough funds"):
        studies.recruitment_publish(recruitment=recruitment, entry_url=ENTRY)
    recruitment.refresh_from_db()
    assert recruitment.state == RecruitmentState.DRAFT
    assert recruitment.external_id in fake_prolific.studies


def test_a_study_of_a_paused_campaign_cannot_be_published(study: Recruitment, campaign: Campaign) -> None:
    campaign_pause(campaign=campaign)
    recruitment = make_recruitment(campaign, study.account, publish=False)
    recruitment.campaign.refresh_from_db()
    with pytest.raises(AnnotationError, match="The campaign is paused"):
        studies.recruitment_publish(recruitment=recruitment, entry_url=ENTRY)


def test_places_only_grow_and_a_repeated_request_adds_none(hit: Recruitment, fake_mturk: FakeMechanicalTurk) -> None:
    for _ in range(2):
        hit = studies.recruitment_extend(recruitment=hit, places=8)
    assert fake_mturk.hits[hit.external_id]["MaxAssignments"] == 8
    assert hit.options["places"] == 8
    with pytest.raises(ProviderError):
        studies.recruitment_extend(recruitment=hit, places=2)


def test_terms_change_until_the_provider_has_them(campaign: Campaign, fake_prolific: FakeProlific) -> None:
    recruitment = make_recruitment(campaign, prolific_account(campaign.project, fake_prolific), publish=False)
    codes = {code.outcome: code.code for code in terms_of(recruitment).codes}
    terms = terms_of(recruitment)
    changes = {"name": "Wave", "return_policy": "keep", "after": {Outcome.COMPLETED: AfterCode.APPROVE}}
    recruitment = studies.recruitment_update(
        recruitment=recruitment, terms=replace(terms, reward=Decimal("3.10")), **changes
    )
    assert terms_of(recruitment).reward == Decimal("3.10")
    assert {code.outcome: code.code for code in terms_of(recruitment).codes} == codes
    recruitment = studies.recruitment_draft(recruitment=recruitment, entry_url=ENTRY)
    recruitment = studies.recruitment_update(
        recruitment=recruitment, terms=replace(terms, reward=Decimal("9.99")), **{**changes, "name": "Later"}
    )
    assert (recruitment.name, terms_of(recruitment).reward) == ("Later", Decimal("3.10"))


def test_a_recruitment_by_hand_is_published_at_once_and_changes_state_without_a_provider(campaign: Campaign) -> None:
    recruitment = make_recruitment(campaign, None)
    assert recruitment.state == RecruitmentState.PUBLISHED
    assert studies.recruitment_pause(recruitment=recruitment).state == RecruitmentState.PAUSED
    assert studies.recruitment_resume(recruitment=recruitment).state == RecruitmentState.PUBLISHED
    studies.recruitment_discard(recruitment=recruitment)
    assert Recruitment.objects.count() == 0


def test_terms_with_risks_give_warnings(campaign: Campaign) -> None:
    recruitment = make_recruitment(campaign, None, reward=Decimal("1.00"))  # 4.00 an hour
    warnings = " ".join(warnings_of(terms_of(recruitment), campaign, provider="prolific"))
    assert "4.00 GBP an hour is below the minimum of" in warnings
    assert "stops after 1 item has completed" in warnings
    at_amazon = warnings_of(replace(terms_of(recruitment), currency="USD"), campaign, provider="mturk")
    assert "4.00 USD an hour is below 7.25 USD, the federal minimum wage in the United States." in at_amazon
    careful = make_campaign(
        make_dataset(campaign.project, name="other"),
        name="Careful",
        min_units_per_rater=2,
        max_units_per_rater=2,
        consent="Yes?",
        payment_fee_percent=Decimal("33.3"),
    )
    fair = make_recruitment(careful, None, reward=Decimal("2.50"))
    assert warnings_of(terms_of(fair), careful, provider="prolific") == []


def test_a_rater_is_expected_to_take_an_equal_share_of_the_slots_that_are_left(campaign: Campaign) -> None:
    n_units, all_slots = Unit.objects.count(), Unit.objects.count() * campaign.ratings_per_unit
    assert expected_screens(campaign, places=1) == campaign.max_units_per_rater
    campaign.max_units_per_rater = None
    assert expected_screens(campaign, places=1) == n_units
    assert expected_screens(campaign, places=all_slots) == 1
    Unit.objects.exclude(position=0).update(done_slots=campaign.ratings_per_unit)
    Unit.objects.filter(position=0).update(ratings_wanted=campaign.ratings_per_unit + 4)  # topped up
    assert expected_screens(campaign, places=1) == 1
    Unit.objects.update(done_slots=0, ratings_wanted=campaign.ratings_per_unit + 4)
    assert expected_screens(campaign, places=all_slots) == -(-n_units * (campaign.ratings_per_unit + 4) // all_slots)


def test_terms_that_no_provider_accepts_are_refused_at_each_field(campaign: Campaign) -> None:
    with pytest.raises(AnnotationError) as refusal:
        make_recruitment(campaign, None, reward=Decimal("0.001"), places=0, minutes=0)
    assert set(refusal.value.fields) == {"reward", "places", "minutes"}
    with pytest.raises(AnnotationError) as refusal:
        make_recruitment(campaign, None, after={Outcome.SCREENED_OUT: AfterCode.PAY_SCREEN_OUT})
    assert set(refusal.value.fields) == {"screen_out_reward"}


def test_an_account_of_another_provider_is_refused(campaign: Campaign, fake_mturk: FakeMechanicalTurk) -> None:
    with pytest.raises(AnnotationError, match="another provider's account"):
        make_recruitment(campaign, mturk_account(campaign.project, fake_mturk), provider="prolific")
