from django.urls import URLPattern, URLResolver

app_name = "metrics"

urlpatterns: list[URLPattern | URLResolver] = []
