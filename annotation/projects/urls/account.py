from django.urls import path

from annotation.projects.views import account

urlpatterns = [
    path("account/token/", account.account_token, name="account-token"),
    path("account/token/rotate/", account.account_token_rotate, name="account-token-rotate"),
    path("account/token/revoke/", account.account_token_revoke, name="account-token-revoke"),
]
