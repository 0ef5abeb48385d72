from django.urls import path

from annotation.rating.views import entry, preview, questions, work, written

PREVIEW = "p/<slug:project_slug>/campaigns/<int:pk>/preview/"

urlpatterns = [
    path("r/<uuid:link_token>/", entry.rater_landing, name="rater-landing"),
    path("r/<uuid:link_token>/consent/", entry.rater_consent, name="rater-consent"),
    path("r/<uuid:link_token>/language/", entry.rater_language, name="rater-language"),
    path("r/<uuid:link_token>/instructions/", entry.rater_instructions, name="rater-instructions"),
    path("r/<uuid:link_token>/questions/", questions.rater_questions, name="rater-questions"),
    path("r/<uuid:link_token>/work/", work.rater_work, name="rater-work"),
    path("r/<uuid:link_token>/begin/", work.rater_begin, name="rater-begin"),
    path("r/<uuid:link_token>/submit/", work.rater_submit, name="rater-submit"),
    path("r/<uuid:link_token>/draft/", work.rater_draft, name="rater-draft"),
    path("r/<uuid:link_token>/feedback/", work.rater_feedback, name="rater-feedback"),
    path("r/<uuid:link_token>/result/", work.rater_result, name="rater-result"),
    path("r/<uuid:link_token>/break/", work.rater_break, name="rater-break"),
    path("r/<uuid:link_token>/return/", work.rater_return, name="rater-return"),
    path("r/<uuid:link_token>/skipped/", work.rater_skipped, name="rater-skipped"),
    path("p/<slug:project_slug>/campaigns/<int:pk>/written/", written.campaign_written, name="campaign-written"),
    path(PREVIEW, preview.campaign_preview, name="campaign-preview"),
    path(f"{PREVIEW}frame/", preview.campaign_preview_frame, name="campaign-preview-frame"),
]
