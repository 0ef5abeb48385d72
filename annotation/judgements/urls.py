from django.urls import path

from annotation.judgements import views

IMPORT = "p/<slug:project_slug>/rating-imports/<int:pk>/"

urlpatterns = [
    path(IMPORT, views.rating_import_detail, name="rating-import-detail"),
    path(f"{IMPORT}cancel/", views.rating_import_cancel, name="rating-import-cancel"),
    path(f"{IMPORT}confirm/", views.rating_import_confirm, name="rating-import-confirm"),
    path(f"{IMPORT}read-again/", views.rating_import_read_again, name="rating-import-read-again"),
    path(f"{IMPORT}discard/", views.rating_import_discard, name="rating-import-discard"),
    path("p/<slug:project_slug>/datasets/<slug:dataset_slug>/ratings/new/", views.rating_import, name="rating-import"),
]
