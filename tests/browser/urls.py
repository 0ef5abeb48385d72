"""Only the pages the design system brings, so that its tests need no app."""

from django.urls import include, path

from config import views

urlpatterns = [
    path("", views.home, name="home"),
    path("accounts/", include("django.contrib.auth.urls")),
    path("styleguide/", views.styleguide, name="styleguide"),
]
