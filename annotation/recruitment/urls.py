from django.urls import URLPattern, path

from annotation.recruitment.views import accounts, entry, leaving, money, recruitment, webhooks

PROJECT = "p/<slug:project_slug>/providers/"
ACCOUNT = f"{PROJECT}<int:pk>/"
CAMPAIGN = "p/<slug:project_slug>/campaigns/<int:pk>/recruitment/"
RECRUITMENT = f"{CAMPAIGN}<int:number>/"


urlpatterns: list[URLPattern] = [
    path(PROJECT, accounts.provider_account_list, name="provider-accounts"),
    path(f"{PROJECT}connect/<slug:provider>/", accounts.provider_account_connect, name="provider-account-connect"),
    path(ACCOUNT, accounts.provider_account_detail, name="provider-account"),
    path(f"{ACCOUNT}test/", accounts.provider_account_test, name="provider-account-test"),
    path(f"{ACCOUNT}messages/", accounts.provider_account_messages, name="provider-account-messages"),
    path(f"{ACCOUNT}remove/", accounts.provider_account_remove, name="provider-account-remove"),
    path(CAMPAIGN, recruitment.campaign_recruitments, name="campaign-recruitments"),
    path(f"{CAMPAIGN}new/<slug:provider>/", recruitment.recruitment_create, name="campaign-recruitment-create"),
    path(RECRUITMENT, recruitment.recruitment_detail, name="campaign-recruitment"),
    path(f"{RECRUITMENT}edit/", recruitment.recruitment_edit, name="campaign-recruitment-edit"),
    path(f"{RECRUITMENT}places/", recruitment.recruitment_places, name="campaign-recruitment-places"),
    path(f"{RECRUITMENT}submissions/", money.submissions_review, name="campaign-recruitment-review"),
    path(f"{RECRUITMENT}bonuses/", money.bonus_new, name="campaign-recruitment-bonus"),
    path(f"{RECRUITMENT}bonuses/<slug:batch_id>/", money.bonus_batch, name="campaign-recruitment-batch"),
    path(f"{RECRUITMENT}<slug:act>/", recruitment.recruitment_act, name="campaign-recruitment-act"),
    path("r/in/<uuid:token>/", entry.provider_entry, name="provider-entry"),
    path("r/in/<uuid:token>/arrived/", entry.provider_arrived, name="provider-arrived"),
    path("r/<uuid:link_token>/decline/", entry.rater_decline, name="rater-decline"),
    path("providers/<int:account_id>/webhook", webhooks.provider_webhook, name="provider-webhook"),
    path("r/<uuid:link_token>/finish/", leaving.rater_finish, name="rater-finish"),
]
