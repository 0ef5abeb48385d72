from django.urls import path

from annotation.accounts.views import second_factor, second_step, single_sign_on

urlpatterns = [
    path("accounts/login/code/", second_step.second_step, name="second-step"),
    path("accounts/single-sign-on/", single_sign_on.single_sign_on, name="single-sign-on"),
    path("accounts/single-sign-on/return/", single_sign_on.single_sign_on_return, name="single-sign-on-return"),
    path("account/sign-in/link/", single_sign_on.single_sign_on_link, name="single-sign-on-link"),
    path("account/sign-in/unlink/", single_sign_on.single_sign_on_unlink, name="single-sign-on-unlink"),
    path("account/sign-in/", second_factor.account_sign_in, name="account-sign-in"),
    path("account/second-factor/", second_factor.second_factor_set_up, name="second-factor-set-up"),
    path("account/second-factor/codes/", second_factor.recovery_codes, name="recovery-codes"),
    path("account/second-factor/remove/", second_factor.second_factor_remove, name="second-factor-remove"),
]
