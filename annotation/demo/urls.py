from django.urls import path

from annotation.demo import views

urlpatterns = [path("projects/examples/", views.example_list, name="example-list")]
