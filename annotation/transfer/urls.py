from django.urls import path

from annotation.transfer import views

urlpatterns = [
    path("projects/import/", views.project_import, name="project-import"),
    path("projects/imports/<int:pk>/", views.project_import_detail, name="project-import-detail"),
    path("projects/imports/<int:pk>/cancel/", views.project_import_cancel, name="project-import-cancel"),
    path("p/<slug:project_slug>/export/", views.project_export, name="project-export"),
    path("p/<slug:project_slug>/export.zip", views.project_archive, name="project-archive"),
]
