from django.urls import URLPattern, path

from annotation.quality.views import operations

urlpatterns: list[URLPattern] = [
    path(
        "p/<slug:project_slug>/campaigns/<int:pk>/change/<slug:operation>/",
        operations.campaign_operation,
        name="campaign-operation",
    ),
]
