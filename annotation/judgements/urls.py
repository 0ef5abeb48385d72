from django.urls import path

from annotation.judgements import views

urlpatterns = [
    path("p/<slug:project_slug>/rating-imports/<int:pk>/", views.rating_import_detail, name="rating-import-detail"),
    path(
        "p/<slug:project_slug>/rating-imports/<int:pk>/cancel/", views.rating_import_cancel, name="rating-import-cancel"
    ),
    path(
        "p/<slug:project_slug>/rating-imports/<int:pk>/confirm/",
        views.rating_import_confirm,
        name="rating-import-confirm",
    ),
    path(
        "p/<slug:project_slug>/rating-imports/<int:pk>/read-again/",
        views.rating_import_read_again,
        name="rating-import-read-again",
    ),
    path(
        "p/<slug:project_slug>/rating-imports/<int:pk>/discard/",
        views.rating_import_discard,
        name="rating-import-discard",
    ),
    path("p/<slug:project_slug>/datasets/<slug:dataset_slug>/ratings/new/", views.rating_import, name="rating-import"),
]
