from django.urls import URLPattern, path

from annotation.projects.views import audit

urlpatterns: list[URLPattern] = [
    path("p/<slug:project_slug>/audit/", audit.project_audit, name="project-audit"),
    path("p/<slug:project_slug>/campaigns/<int:pk>/audit/", audit.campaign_audit, name="campaign-audit"),
]
