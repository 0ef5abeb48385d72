from django.urls import path

from annotation.removal import views

urlpatterns = [
    path("p/<slug:project_slug>/datasets/<slug:dataset_slug>/delete/", views.dataset_delete, name="dataset-delete"),
    path("p/<slug:project_slug>/campaigns/<int:pk>/delete/", views.campaign_delete, name="campaign-delete"),
    path("p/<slug:project_slug>/deletions/<int:pk>/", views.deletion_detail, name="deletion-detail"),
]
