from django.urls import path

from config.help import views

urlpatterns = [
    path("", views.help_index, name="help"),
    path("glossary/", views.glossary, name="help-glossary"),
    path("published/", views.published_tables, name="help-published"),
    path("docs/<path:name>/", views.help_document, name="help-document"),
    path("pictures/<path:name>", views.help_picture, name="help-picture"),
]
