from annotation.urls import campaigns, datasets, monitoring, projects, raters, references

app_name = "annotation"
urlpatterns = [
    *projects.urlpatterns,
    *datasets.urlpatterns,
    *campaigns.urlpatterns,
    *monitoring.urlpatterns,
    *raters.urlpatterns,
    *references.urlpatterns,
]
