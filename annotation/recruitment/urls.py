from django.urls import URLPattern, path

from annotation.recruitment.views import accounts, leaving, recruitment, webhooks
from annotation.recruitment.views import entry as provider_entry
from annotation.recruitment.views import money as recruitment_money

PROJECT = "p/<slug:project_slug>/providers/"
ACCOUNT = f"{PROJECT}<int:pk>/"
CAMPAIGN = "p/<slug:project_slug>/campaigns/<int:pk>/recruitment/"
ONE = f"{CAMPAIGN}<int:number>/"


urlpatterns: list[URLPattern] = [
    path(PROJECT, accounts.provider_account_list, name="provider-accounts"),
    path(
        f"{PROJECT}connect/<slug:provider>/",
        accounts.provider_account_connect,
        name="provider-account-connect",
    ),
    path(ACCOUNT, accounts.provider_account_detail, name="provider-account"),
    path(f"{ACCOUNT}test/", accounts.provider_account_test, name="provider-account-test"),
    path(f"{ACCOUNT}messages/", accounts.provider_account_messages, name="provider-account-messages"),
    path(f"{ACCOUNT}remove/", accounts.provider_account_remove, name="provider-account-remove"),
    path(CAMPAIGN, recruitment.campaign_recruitments, name="campaign-recruitments"),
    path(f"{CAMPAIGN}new/<slug:provider>/", recruitment.recruitment_create, name="campaign-recruitment-create"),
    path(ONE, recruitment.recruitment_detail, name="campaign-recruitment"),
    path(f"{ONE}edit/", recruitment.recruitment_edit, name="campaign-recruitment-edit"),
    path(f"{ONE}places/", recruitment.recruitment_places, name="campaign-recruitment-places"),
    path(f"{ONE}submissions/", recruitment_money.submissions_review, name="campaign-recruitment-review"),
    path(f"{ONE}bonuses/", recruitment_money.bonus_new, name="campaign-recruitment-bonus"),
    path(f"{ONE}bonuses/<slug:batch_id>/", recruitment_money.bonus_batch, name="campaign-recruitment-batch"),
    path(f"{ONE}<slug:act>/", recruitment.recruitment_act, name="campaign-recruitment-act"),
    path("r/in/<uuid:token>/", provider_entry.provider_entry, name="provider-entry"),
    path("r/in/<uuid:token>/arrived/", provider_entry.provider_arrived, name="provider-arrived"),
    path("r/<uuid:link_token>/decline/", provider_entry.rater_decline, name="rater-decline"),
    path("providers/<int:account_id>/webhook", webhooks.provider_webhook, name="provider-webhook"),
    path("r/<uuid:link_token>/finish/", leaving.rater_finish, name="rater-finish"),
]
