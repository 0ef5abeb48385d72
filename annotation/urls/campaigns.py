from django.urls import URLPattern, path

from annotation.views import campaigns

ALL = "p/<slug:project_slug>/campaigns/"
ONE = f"{ALL}<int:pk>/"

urlpatterns: list[URLPattern] = [
    path(ALL, campaigns.campaign_list, name="campaign-list"),
    path(f"{ALL}new/", campaigns.campaign_create, name="campaign-create"),
    path(ONE, campaigns.campaign_detail, name="campaign-detail"),
    path(f"{ONE}design/", campaigns.campaign_design, name="campaign-design"),
    path(f"{ONE}edit/", campaigns.campaign_edit, name="campaign-edit"),
    path(f"{ONE}preview/", campaigns.campaign_preview, name="campaign-preview"),
    path(f"{ONE}launch/", campaigns.campaign_launch, name="campaign-launch"),
    path(f"{ONE}pause/", campaigns.campaign_pause, name="campaign-pause"),
    path(f"{ONE}resume/", campaigns.campaign_resume, name="campaign-resume"),
    path(f"{ONE}close/", campaigns.campaign_close, name="campaign-close"),
    path(f"{ONE}ratings/", campaigns.campaign_ratings, name="campaign-ratings"),
    path(f"{ONE}raters/", campaigns.campaign_raters, name="campaign-raters"),
]
