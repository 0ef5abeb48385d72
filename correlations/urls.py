from django.urls import URLPattern, URLResolver

app_name = "correlations"

urlpatterns: list[URLPattern | URLResolver] = []
