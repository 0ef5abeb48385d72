from django.urls import path

from annotation.notifications import views

HERE = "p/<slug:project_slug>/notifications/"

urlpatterns = [
    path(HERE, views.notifications, name="project-notifications"),
    path(f"{HERE}secret/", views.secret_replace, name="project-notifications-secret"),
    path(f"{HERE}test/", views.test_send, name="project-notifications-test"),
]
