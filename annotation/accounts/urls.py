from django.urls import path

from annotation.accounts.views import second_factor, second_step

urlpatterns = [
    path("accounts/login/code/", second_step.second_step, name="second-step"),
    path("account/sign-in/", second_factor.account_sign_in, name="account-sign-in"),
    path("account/second-factor/", second_factor.second_factor_set_up, name="second-factor-set-up"),
    path("account/second-factor/codes/", second_factor.recovery_codes, name="recovery-codes"),
    path("account/second-factor/remove/", second_factor.second_factor_remove, name="second-factor-remove"),
]
