"""The only file that reads the environment. Every setting has a working default; NAME_FILE names a secret's file."""

import os
import re
import secrets
from pathlib import Path
from urllib.parse import urlencode, urlsplit, urlunsplit

import dj_database_url
from environs import Env
from kombu import Queue
from whitenoise.compress import Compressor

from annotation.recruitment.providers import PROVIDERS
from config.drivers import require_driver
from config.embedded_postgres import EmbeddedPostgres

BASE_DIR = Path(__file__).resolve().parent.parent
VERSION = "0.1.0"

env = Env(expand_vars=False)
env.read_env(BASE_DIR / ".env")


def secret(name: str, default: str = "") -> str:
    """Return the value of NAME, or the content of the file that NAME_FILE names."""
    path = env.path(f"{name}_FILE", None)
    return path.read_text().strip() if path else env.str(name, default)


def secret_list(name: str) -> list[str]:
    """Return the values of NAME, or of the file that NAME_FILE names: with commas, or each on a line."""
    return [each for each in re.split(r"\s*[,\n]\s*", secret(name)) if each]


# --- Where and how ---------------------------------------------------------------------------------------------------

DEBUG = env.bool("DEBUG", False)
DEMO = env.bool("ASSAY_DEMO", False)  # demo accounts may exist; set by `make run` alone
DATA_DIR = env.path("ASSAY_DATA_DIR", BASE_DIR / "var")
MODELS_DIR = env.path("ASSAY_MODELS_DIR", DATA_DIR / "models")  # trained models that metrics read
CORPORA_DIR = env.path("ASSAY_CORPORA_DIR", None)  # indexes of corpora; without it ``corpora`` in the data folder
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", ["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", [])
BEHIND_TLS = env.bool("BEHIND_TLS", False)
# Proxies trusted to name the caller's address: an invented X-Forwarded-For must not evade limits.
NUM_PROXIES = env.int("NUM_PROXIES", 1 if BEHIND_TLS else 0)

DEVELOPMENT_SECRET_KEY = "development-only-and-refused-in-production-0123456789"  # noqa: S105


SECRET_KEY_PATH = DATA_DIR / "secret_key"
# Made by this process: nothing can be encrypted under it yet, and nothing of an older installation should be.
SECRET_KEY_IS_NEW = not (secret("SECRET_KEY") or DEBUG or SECRET_KEY_PATH.exists())


def generated_secret_key() -> str:
    """Return a key generated for this installation and stored with its data."""
    if not SECRET_KEY_PATH.exists():
        DATA_DIR.mkdir(parents=True, exist_ok=True)
        SECRET_KEY_PATH.touch(mode=0o600)
        SECRET_KEY_PATH.write_text(secrets.token_urlsafe(50))
    return SECRET_KEY_PATH.read_text().strip()


SECRET_KEY = secret("SECRET_KEY") or (DEVELOPMENT_SECRET_KEY if DEBUG else generated_secret_key())

# Former keys: what they signed or encrypted stays readable.
SECRET_KEY_FALLBACKS = secret_list("SECRET_KEY_FALLBACKS")

# --- Database and broker ---------------------------------------------------------------------------------------------

DATABASE_URL = secret("DATABASE_URL")
EMBEDDED_POSTGRES = None if DATABASE_URL else EmbeddedPostgres(DATA_DIR / "postgres")
if EMBEDDED_POSTGRES:
    DATABASE_URL = EMBEDDED_POSTGRES.url()

# A transaction pooler's address, for web and the work of workers; DATABASE_URL stays the server's own.
DATABASE_POOLER_URL = secret("DATABASE_POOLER_URL")

for name, address in (("DATABASE_URL", DATABASE_URL), ("DATABASE_POOLER_URL", DATABASE_POOLER_URL)):
    if address and urlsplit(address).scheme not in ("postgresql", "postgres"):
        raise ValueError(f"{name} must name a PostgreSQL database (postgresql://...), found {address.split(':')[0]}.")
DATABASES = {
    "default": dj_database_url.parse(DATABASE_POOLER_URL or DATABASE_URL, conn_max_age=60, conn_health_checks=True)
}
# A server, or its network, that is gone is noticed within a minute; by default it takes up to two hours.
KEPT_ALIVE = {"keepalives_idle": 20, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 60_000}
DATABASES["default"]["OPTIONS"] = KEPT_ALIVE | DATABASES["default"].get("OPTIONS", {})
# Behind a pooler the next statement may reach another session, which knows no cursor of this one.
DATABASES["default"]["DISABLE_SERVER_SIDE_CURSORS"] = bool(DATABASE_POOLER_URL)


def kept_alive(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(query="&".join(filter(None, (urlencode(KEPT_ALIVE), parts.query)))))


CELERY_BROKER_URL = secret("CELERY_BROKER_URL") or urlunsplit(urlsplit(DATABASE_URL)._replace(scheme="pgmq"))
require_driver(CELERY_BROKER_URL)
BROKER_IS_DATABASE = CELERY_BROKER_URL.startswith("pgmq:")
VISIBILITY_TIMEOUT = env.int("CELERY_VISIBILITY_TIMEOUT", 120)
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {
        # Given, because the client would otherwise prefer DATABASE_URL to the broker's address.
        "conn_string": kept_alive(urlunsplit(urlsplit(CELERY_BROKER_URL)._replace(scheme="postgresql"))),
        "init_extension": False,  # the SQL is installed by config.broker after migrate
        "visibility_timeout": VISIBILITY_TIMEOUT,
        "pool_timeout": 5,  # for a database that is down; the part tries again
        "wait_time_seconds": 1,  # a worker that is stopped waits for the end of its last poll
        "poll_interval_ms": 50,
        "polling_interval": 0.05,
    }
    if BROKER_IS_DATABASE
    else {"visibility_timeout": VISIBILITY_TIMEOUT}  # Redis; RabbitMQ sees that a connection has ended
)
CELERY_BROKER_HEARTBEAT = 0  # RabbitMQ's: a worker that computes answers none, and would lose its connection
CELERY_TASK_DEFAULT_QUEUE = "celery"
LONG_QUEUE = env("ASSAY_LONG_QUEUE", default="long")  # of studies, scores, mining; that of all work: one queue
CELERY_TASK_QUEUES = [Queue(name) for name in dict.fromkeys((CELERY_TASK_DEFAULT_QUEUE, LONG_QUEUE))]
CELERY_TASK_ROUTES = ["annotation.core.queues.route"]
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_IGNORE_RESULT = True  # progress and outcome live in Assay's own tables
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CONCURRENCY = 1  # by default the number of cores: a worker would take as many messages, others none
CELERY_WORKER_POOL = "solo"  # a worker is one process: of a pool, what remains can wait for the killed part without end
WORKERS = env.int("ASSAY_WORKERS", 2)  # of `up`, for long work; one more is for short work
TRAINING_PROCESSES = env.int("ASSAY_TRAINING_PROCESSES", 2)  # of a quality estimator's network, on as many cores
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 8  # then a running job goes back to the queue; its lease protects it
TASK_MEMORY_MB = env.int("ASSAY_TASK_MEMORY_MB", 0)  # that a task may take; 0: no limit
JOB_LEASE_SECONDS = env.int("JOB_LEASE_SECONDS", 30)
SWEEP_SECONDS = env.int("SWEEP_SECONDS", 10)
HEARTBEAT_SECONDS = env.int("HEARTBEAT_SECONDS", 5)
SILENT_SECONDS = 3 * HEARTBEAT_SECONDS + 5  # two heartbeats may be late or lost
CELERY_BEAT_SCHEDULE = {
    name: {"task": task, "schedule": seconds, "options": {"expires": expires}}
    for name, task, seconds, expires in (
        ("heartbeat", "annotation.tasks.heartbeat", HEARTBEAT_SECONDS, SILENT_SECONDS),
        ("long-heartbeat", "annotation.tasks.long_heartbeat", HEARTBEAT_SECONDS, SILENT_SECONDS),
        ("sweep", "annotation.tasks.sweep", SWEEP_SECONDS, SWEEP_SECONDS),
        ("requeue-score-runs", "metrics.tasks.requeue_stale", SWEEP_SECONDS, SWEEP_SECONDS),
        ("requeue-studies", "correlations.tasks.requeue_stale", SWEEP_SECONDS, SWEEP_SECONDS),
    )
}
CELERY_BEAT_SCHEDULER = "celery.beat:Scheduler"  # in memory: no entry is due later than seconds after a start

# --- Django ----------------------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "config",
    "annotation",
    "metrics",
    "correlations",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.contrib.postgres",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
]

MIDDLEWARE = [
    "config.middleware.RequestLog",
    "django.middleware.security.SecurityMiddleware",
    "config.middleware.ContentSecurityPolicy",
    "annotation.recruitment.views.framing.FramedRaters",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.incoming.WellFormed",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "config.incoming.Sizes",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "config.middleware.PlainNotFound",
    "config.middleware.LimitsReached",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
AUTH_USER_MODEL = "annotation.User"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTHENTICATION_BACKENDS = ["annotation.core.signing_in.LimitedPasswords"]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "annotation:project-list"
LOGOUT_REDIRECT_URL = "home"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "config.context.product",
            ],
            "builtins": ["annotation.templatetags.icons"],
        },
    }
]

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "config.password_rules.LongEnough", "OPTIONS": {"min_length": 10}},
    {"NAME": "config.password_rules.UnlikeTheAccount"},
    {"NAME": "config.password_rules.Uncommon"},
    {"NAME": "config.password_rules.NotOnlyDigits"},
]

LANGUAGE_CODE = "en"
LOCALE_PATHS = [BASE_DIR / "locale"]  # of the rater's pages; see annotation.rating.languages
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = DEBUG
WHITENOISE_SKIP_COMPRESS_EXTENSIONS = (*Compressor.SKIP_COMPRESS_EXTENSIONS, "map")  # maps are for developers alone

DATA_UPLOAD_MAX_MEMORY_SIZE = env.int("DATA_UPLOAD_MAX_MEMORY_SIZE", 64 * 1024 * 1024)
UPLOAD_MAX_BYTES = env.int("UPLOAD_MAX_BYTES", 256 * 1024 * 1024)
DISK_FREE_MIN_BYTES = env.int("DISK_FREE_MIN_BYTES", 2 * UPLOAD_MAX_BYTES)  # the largest upload, and its rows

SESSION_ENGINE = "config.sessions"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_TLS else None
SECURE_SSL_REDIRECT = BEHIND_TLS
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^metrics$"]  # asked behind the proxy, by plain HTTP
SECURE_HSTS_SECONDS = 31_536_000 if BEHIND_TLS else 0
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'self'; "
    "form-action 'self'; frame-ancestors 'none'"
)

# --- Mail: to reset a password, and notifications; without a server these are not offered ---------------------------

EMAIL_HOST = env.str("EMAIL_HOST", "")
EMAIL_PORT = env.int("EMAIL_PORT", 587)
EMAIL_HOST_USER = env.str("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = secret("EMAIL_HOST_PASSWORD")
EMAIL_USE_TLS = env.bool("EMAIL_USE_TLS", True)
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", "assay@localhost")

WEBHOOK_PRIVATE_ADDRESSES = env.bool("WEBHOOK_PRIVATE_ADDRESSES", False)  # webhooks within the server's network

# --- Single sign-on by OpenID Connect: off without an issuer, and if these are half set ------------------------------


def names(variable: str, default: str = "") -> list[str]:
    return [each.strip() for each in env.str(variable, default).split(",") if each.strip()]


OIDC_ISSUER = env.str("OIDC_ISSUER", "")
OIDC_CLIENT_ID = env.str("OIDC_CLIENT_ID", "")
OIDC_CLIENT_SECRET = secret("OIDC_CLIENT_SECRET")
OIDC_NAME = env.str("OIDC_NAME", "") or "single sign-on"  # of the button: “Sign in with …”
OIDC_SCOPES = names("OIDC_SCOPES", "openid,email,profile")
OIDC_EMAIL_DOMAINS = names("OIDC_EMAIL_DOMAINS")  # of people who may come in; empty: any
OIDC_GROUPS = names("OIDC_GROUPS")  # likewise, by the claim “groups”
OIDC_NEW_ACCOUNTS = env.str("OIDC_NEW_ACCOUNTS", "invited")  # who gets an account: none, invited, all
OIDC_EMAILS_ARE_VERIFIED = env.bool("OIDC_EMAILS_ARE_VERIFIED", False)  # also where the provider does not say so
PASSWORD_SIGN_IN = env.bool("PASSWORD_SIGN_IN", True)  # off: single sign-on for all but superusers

# --- Providers of raters: their addresses by default ------------------------------------------------------------------

PROVIDER_ENDPOINTS: list[str] = env.list("PROVIDER_ENDPOINTS", [])  # other APIs that an account may name, for practice
PROVIDER_SETTINGS = {  # declared by each provider, by the name of the variable
    each.variable: (env.list if isinstance(each.default, tuple) else env.str)(each.variable, each.default)  # type: ignore[arg-type] # by its type
    for provider in PROVIDERS.values()
    for each in provider.settings
}
PROVIDER_REFRESH_SECONDS = env.int("PROVIDER_REFRESH_SECONDS", 300)
# New raters from one address: a lecture hall behind one router can join, a script cannot fill a campaign at once.
RATER_ARRIVALS_PER_MINUTE = env.int("RATER_ARRIVALS_PER_MINUTE", 30)

# --- API -------------------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "annotation.projects.api.authentication.HashedTokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PARSER_CLASSES": ["annotation.core.json_bodies.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PAGINATION_CLASS": "annotation.core.pagination.Pages",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "config.api.exception_handler",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Assay API",
    "DESCRIPTION": "Data sets, campaigns, ratings, releases, score runs and studies.",
    "VERSION": VERSION,
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": r"/api/v1/(projects/\{project_slug\}/(?=[a-z]))?",
    "SCHEMA_PATH_PREFIX_TRIM": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "PREPROCESSING_HOOKS": ["config.api.in_this_version"],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "config.api.document_refusals",
        "config.api_examples.add_examples",
    ],
    "ENUM_NAME_OVERRIDES": {
        "JobState": "annotation.models.JobState",
        "CampaignState": "annotation.models.CampaignState",
        "FileFormat": "annotation.core.rows.FORMATS.items",
        "DatasetFileFormat": "annotation.models.datasets.DATASET_FORMATS",
        "RatingFileFormat": "annotation.judgements.services.options.RATING_FORMATS.items",
        "ModelKind": "metrics.scoring.models.kinds.KINDS.keys",
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    # Its groups first. A deep link would be a link inside a button, which screen readers do not reach.
    "SWAGGER_UI_SETTINGS": {"deepLinking": False, "docExpansion": "none"},
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}

# --- Logs ------------------------------------------------------------------------------------------------------------

LOG_FORMAT = env.str("LOG_FORMAT", "console" if DEBUG else "json")
LOG_LEVEL = env.str("LOG_LEVEL", "INFO")
LOGGING_CONFIG = "config.logs.configure"
LOGGING = {"format": LOG_FORMAT, "level": LOG_LEVEL}

# --- Monitoring: /metrics for Prometheus, with a token only ----------------------------------------------------------

METRICS_TOKEN = secret("METRICS_TOKEN")
MONITORING_DIR = DATA_DIR / "monitoring" if METRICS_TOKEN else None  # each process of web counts in a file there
if MONITORING_DIR:
    MONITORING_DIR.mkdir(parents=True, exist_ok=True)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(MONITORING_DIR)  # its library reads no other setting
