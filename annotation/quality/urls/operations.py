from django.urls import URLPattern, path

from annotation.views import operations

urlpatterns: list[URLPattern] = [
    path(
        "p/<slug:project_slug>/campaigns/<int:pk>/change/<slug:operation>/",
        operations.campaign_operation,
        name="campaign-operation",
    ),
]
