"""What every endpoint shares: who may call it, what it answers, how jobs are shown, cancelled and started over."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from celery import Task
from django.db import models
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import APIException, NotAuthenticated, ValidationError
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.core.access import get_project_or_404
from annotation.core.jobs import job_request_cancel, job_requeue
from annotation.models import Job, Project, Role, User


class Conflict(APIException):
    """What was asked for cannot be had in the present state of things."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"


class Strict:
    """For serializers of requests: a misspelt name is a mistake to be told, not a default to be taken."""

    def to_internal_value(self, data: Any) -> Any:
        unknown = [name for name in data if name not in self.fields] if isinstance(data, Mapping) else []
        if unknown:
            raise ValidationError({name: [f"Not known; accepted: {', '.join(self.fields)}."] for name in unknown})
        return super().to_internal_value(data)


class ProjectViewSet(viewsets.GenericViewSet):
    """Everything in a project: 404 for outsiders, 403 where the role is too small. Subclasses set their own parent."""

    project: Project
    ordering: ClassVar[str] = "pk"
    write_role: ClassVar[Role] = Role.MANAGER

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        role = Role.VIEWER if request.method in SAFE_METHODS else self.write_role
        self.project = get_project_or_404(request.user, kwargs["project_slug"], role=role)

    def asked(self, serializer_class: type[serializers.BaseSerializer], data: Any = None) -> dict[str, Any]:
        """What the caller sent, typed; whether it may be done is for the services to say."""
        given = self.request.data if data is None else data
        serializer = serializer_class(data=given, context=self.get_serializer_context())
        serializer.is_valid(raise_exception=True)
        return serializer.validated_data

    @property
    def user(self) -> User:
        """Return the caller, who is signed in: ``initial`` refuses all others."""
        user = self.request.user
        if not isinstance(user, User):
            raise NotAuthenticated
        return user

    def parameter(self, name: str) -> str:
        """A text from the query, or ''."""
        text: str = self.request.query_params.get(name, "")
        if "\x00" in text:
            raise ValidationError({name: ["Found a NUL character; accepted: text without."]})
        return text

    def url_of(self, instance: models.Model) -> str:
        kwargs = {**self.kwargs, self.lookup_url_kwarg: getattr(instance, self.lookup_field)}
        return self.reverse_action("detail", kwargs=kwargs)

    def answer(self, instance: models.Model, code: int = status.HTTP_200_OK) -> Response:
        """The instance as a GET would show it."""
        fresh = self.get_queryset().get(pk=instance.pk)
        headers = {} if code == status.HTTP_200_OK else {"Location": self.url_of(fresh)}
        return Response(self.get_serializer(fresh).data, status=code, headers=headers)


class ReadViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, ProjectViewSet):
    """Lists and details."""


class ProgressSerializer(serializers.Serializer):
    done = serializers.IntegerField(source="progress_done")
    total = serializers.IntegerField(source="progress_total")
    percent = serializers.IntegerField()
    note = serializers.CharField(source="progress_note")


JOB_FIELDS = (
    "url",
    "state",
    "progress",
    "error",
    "attempt",
    "requested_by",
    "created_at",
    "started_at",
    "finished_at",
)


class JobSerializer(serializers.ModelSerializer):
    """Base of whatever a worker computes: poll ``url`` until ``state`` is done, failed or cancelled."""

    url = serializers.SerializerMethodField()
    progress = ProgressSerializer(source="*", read_only=True)
    requested_by = serializers.SlugRelatedField(slug_field="username", read_only=True)

    @extend_schema_field(serializers.URLField())
    def get_url(self, job: Job) -> str:
        view: ProjectViewSet = self.context["view"]
        return view.url_of(job)


class JobViewSet(ReadViewSet):
    """Jobs: newest first, cancelled and started over by request."""

    ordering = "-pk"
    task: ClassVar[Task]

    def start(self, job: Job) -> None:
        """Hand a queued job to the workers."""
        self.task.delay_on_commit(job.pk)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, **_: Any) -> Response:
        """Queued: cancelled at once. Running: it stops at its next step. Finished: nothing happens."""
        job = self.get_object()
        job_request_cancel(job)
        return self.answer(job)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def retry(self, request: Request, **_: Any) -> Response:
        """Start a failed or cancelled job over."""
        job = self.get_object()
        if not job_requeue(job):
            raise Conflict(f"It is {job.get_state_display().lower()}; accepted: a failed or cancelled one.")
        self.start(job)
        return self.answer(job)


def find_named(rows: models.QuerySet, names: Iterable[str], *, field: str, by: str = "name") -> list[Any]:
    """The rows of these names, in the order given; a refusal of ``field`` where there is none of a name."""
    names = list(names)
    found: Mapping[str, Any] = {getattr(row, by): row for row in rows.filter(**{f"{by}__in": names})}
    missing = [name for name in names if name not in found]
    if missing:
        accepted = ", ".join(map(str, rows.order_by(by).values_list(by, flat=True)[:50])) or "none yet"
        raise ValidationError({field: [f"Found {missing[0]!r}; accepted: {accepted}."]})
    return [found[name] for name in names]
