from django.urls import URLPattern, path

from annotation.campaigns.views import campaigns
from annotation.campaigns.views import copies as campaign_copies
from annotation.campaigns.views import design as campaign_design

ALL = "p/<slug:project_slug>/campaigns/"
ONE = f"{ALL}<int:pk>/"
PREPARED = f"{ONE}edit/quality/<slug:kind>/"

urlpatterns: list[URLPattern] = [
    path(ALL, campaigns.campaign_list, name="campaign-list"),
    path(f"{ALL}new/", campaign_copies.campaign_create, name="campaign-create"),
    path(f"{ALL}import/", campaign_copies.campaign_import, name="campaign-import"),
    path(f"{ALL}compare/", campaign_copies.campaign_compare, name="campaign-compare"),
    path(f"{ONE}design/", campaigns.campaign_design, name="campaign-design"),
    path(f"{ONE}edit/", campaign_design.campaign_edit, name="campaign-edit"),
    path(f"{ONE}edit/<slug:step>/", campaign_design.campaign_step, name="campaign-step"),
    path(f"{PREPARED}new/", campaign_design.campaign_screen, name="campaign-screen-new"),
    path(f"{PREPARED}lines/", campaign_design.campaign_screen_lines, name="campaign-screen-lines"),
    path(f"{PREPARED}<int:number>/", campaign_design.campaign_screen, name="campaign-screen"),
    path(f"{PREPARED}<int:number>/remove/", campaign_design.campaign_screen_remove, name="campaign-screen-remove"),
    path(f"{ONE}clone/", campaign_copies.campaign_clone, name="campaign-clone"),
    path(f"{ONE}export.json", campaign_copies.campaign_export, name="campaign-export"),
    path(f"{ONE}launch/", campaigns.campaign_launch, name="campaign-launch"),
    path(f"{ONE}pause/", campaigns.campaign_pause, name="campaign-pause"),
    path(f"{ONE}resume/", campaigns.campaign_resume, name="campaign-resume"),
    path(f"{ONE}close/", campaigns.campaign_close, name="campaign-close"),
    path(f"{ONE}ratings/", campaigns.campaign_ratings, name="campaign-ratings"),
]
