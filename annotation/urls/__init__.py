from annotation.urls import campaigns, datasets, projects, raters, references

app_name = "annotation"
urlpatterns = [
    *projects.urlpatterns,
    *datasets.urlpatterns,
    *campaigns.urlpatterns,
    *raters.urlpatterns,
    *references.urlpatterns,
]
