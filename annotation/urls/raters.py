from django.urls import path

from annotation.views import raters

urlpatterns = [
    path("r/<uuid:link_token>/", raters.rater_landing, name="rater-landing"),
    path("r/<uuid:link_token>/consent/", raters.rater_consent, name="rater-consent"),
    path("r/<uuid:link_token>/work/", raters.rater_work, name="rater-work"),
    path("r/<uuid:link_token>/submit/", raters.rater_submit, name="rater-submit"),
    path("r/<uuid:link_token>/return/", raters.rater_return, name="rater-return"),
    path("r/<uuid:link_token>/finish/", raters.rater_finish, name="rater-finish"),
]
