from django.conf import settings
from django.contrib import admin
from django.contrib.auth.views import PasswordResetConfirmView
from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from config import views
from config.monitoring.views import metrics as monitoring
from config.passwords import LimitedPasswordChangeView, NewPasswordForm

handler400 = "config.incoming.bad_request"
urlpatterns = [
    path("", views.home, name="home"),
    path("help/", include("config.help.urls")),
    path("healthz", views.healthz, name="healthz"),
    path("metrics", monitoring, name="monitoring"),
    path("accounts/password_reset/", views.password_reset, name="password_reset"),
    path("accounts/password_change/", LimitedPasswordChangeView.as_view(), name="password_change"),
    path("admin/password_change/", LimitedPasswordChangeView.as_view()),  # instead of the administration's own
    path(
        "accounts/reset/<uidb64>/<token>/",
        PasswordResetConfirmView.as_view(form_class=NewPasswordForm),
        name="password_reset_confirm",
    ),
    path("admin/login/", views.AdminSignInView.as_view()),  # likewise
    path("accounts/login/", views.SignInView.as_view(), name="login"),
    path("accounts/", include("django.contrib.auth.urls")),
    path("admin/", admin.site.urls),
    path("api/schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("api/docs/", SpectacularSwaggerSplitView.as_view(url_name="api-schema"), name="api-docs"),
    path("api/v1/", include("config.api")),
    path("", include("annotation.urls")),
    path("", include("metrics.urls")),
    path("", include("correlations.urls")),
]

if settings.DEBUG:
    urlpatterns += [
        path("styleguide/", views.styleguide, name="styleguide"),
        re_path(r"^(?!static/).*/$", views.not_found),  # last: what resolves to nothing; a slash is appended first
    ]
