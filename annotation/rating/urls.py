from django.urls import path

from annotation.rating import views as raters
from annotation.rating.views import preview

urlpatterns = [
    path("r/<uuid:link_token>/", raters.rater_landing, name="rater-landing"),
    path("r/<uuid:link_token>/consent/", raters.rater_consent, name="rater-consent"),
    path("r/<uuid:link_token>/language/", raters.rater_language, name="rater-language"),
    path("r/<uuid:link_token>/instructions/", raters.rater_instructions, name="rater-instructions"),
    path("r/<uuid:link_token>/work/", raters.rater_work, name="rater-work"),
    path("r/<uuid:link_token>/submit/", raters.rater_submit, name="rater-submit"),
    path("r/<uuid:link_token>/draft/", raters.rater_draft, name="rater-draft"),
    path("r/<uuid:link_token>/feedback/", raters.rater_feedback, name="rater-feedback"),
    path("r/<uuid:link_token>/result/", raters.rater_result, name="rater-result"),
    path("r/<uuid:link_token>/break/", raters.rater_break, name="rater-break"),
    path("r/<uuid:link_token>/return/", raters.rater_return, name="rater-return"),
    path("p/<slug:project_slug>/campaigns/<int:pk>/preview/", preview.campaign_preview, name="campaign-preview"),
    path(
        "p/<slug:project_slug>/campaigns/<int:pk>/preview/frame/",
        preview.campaign_preview_frame,
        name="campaign-preview-frame",
    ),
]
