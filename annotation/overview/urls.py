from django.urls import path

from annotation.overview import views

urlpatterns = [
    path("p/<slug:project_slug>/", views.project_detail, name="project-detail"),
    path("p/<slug:project_slug>/jobs/", views.project_jobs_page, name="project-jobs"),
    path("p/<slug:project_slug>/campaigns/<int:pk>/", views.campaign_detail, name="campaign-detail"),
]
