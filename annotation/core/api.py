"""What every endpoint shares: permissions, answers, and how jobs are shown, cancelled and started over."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, cast

from celery import Task
from django.db import models
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse

from annotation.core.access import AnyModel, get_project_or_404
from annotation.core.jobs import job_request_cancel, job_requeue
from annotation.core.refusals import checked
from annotation.models import Dataset, Job, Project, Role, User


class Conflict(APIException):
    """The object's state does not allow the request."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"


class Strict(serializers.Serializer[Any]):
    """A request body. An unknown name, such as a misspelt one, is refused."""

    def to_internal_value(self, data: Any) -> Any:
        unknown = [name for name in data if name not in self.fields] if isinstance(data, Mapping) else []
        if unknown:
            raise ValidationError({name: [f"Not known; accepted: {', '.join(self.fields)}."] for name in unknown})
        return super().to_internal_value(data)


def user_of(request: Request) -> User:
    """Return the signed-in user: every endpoint refuses anonymous requests first."""
    return cast(User, request.user)


class AnswerSerializer(serializers.ModelSerializer[Any]):
    """A row of the database in an answer: every field is read only."""

    def get_extra_kwargs(self) -> dict[str, Any]:
        given: dict[str, Any] = super().get_extra_kwargs()
        return {name: given.get(name, {}) | {"read_only": True} for name in self.Meta.fields}


class UsernameField(serializers.SlugRelatedField[User]):
    """The name of an account, read only; null without one."""

    def __init__(self, **options: Any) -> None:
        super().__init__(slug_field="username", read_only=True, **options)


class ProjectViewSet(viewsets.GenericViewSet[Any]):
    """Base for everything in a project: 404 for outsiders, 403 if the role is too low."""

    project: Project
    ordering: ClassVar[str] = "pk"
    lookup_value_converter: ClassVar[str] = "int"
    read_role: ClassVar[Role] = Role.VIEWER
    write_role: ClassVar[Role] = Role.MANAGER

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        role = self.read_role if request.method in SAFE_METHODS else self.write_role
        self.project = get_project_or_404(user_of(request), kwargs["project_slug"], role=role)

    def validated(self, serializer_class: type[serializers.Serializer[Any]], data: Any = None) -> dict[str, Any]:
        """Return the request's data, checked and converted by a serializer."""
        body = self.request.data if data is None else data
        return checked(serializer_class(data=body, context=self.get_serializer_context()))

    @property
    def user(self) -> User:
        return user_of(self.request)

    def dataset_named(self, slug: str) -> Dataset:
        """Return a data set of the project; refuse the field ``dataset`` if there is none of this slug."""
        dataset: Dataset = one_named(self.project.datasets.all(), slug, field="dataset", by="slug")
        return dataset

    def parameter(self, name: str) -> str:
        """Return a text from the query, or ''."""
        text: str = self.request.query_params.get(name, "")
        return text

    def url_of(self, instance: models.Model) -> str:
        kwargs = {**self.kwargs, cast(str, self.lookup_url_kwarg): getattr(instance, self.lookup_field)}
        return self.reverse_action("detail", kwargs=kwargs)

    def answer(self, instance: models.Model, code: int = status.HTTP_200_OK) -> ApiResponse:
        """Return the instance as a GET would show it."""
        fresh = self.get_queryset().get(pk=instance.pk)
        headers = {} if code == status.HTTP_200_OK else {"Location": self.url_of(fresh)}
        return ApiResponse(self.get_serializer(fresh).data, status=code, headers=headers)


class ReadViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, ProjectViewSet):
    """Lists and details."""


class ProgressSerializer(serializers.Serializer[Any]):
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


class JobSerializer(AnswerSerializer):
    """Base for everything that a worker computes: poll ``url`` until ``state`` is done, failed or cancelled."""

    url = serializers.SerializerMethodField()
    progress = ProgressSerializer(source="*", read_only=True)
    requested_by = UsernameField()

    @extend_schema_field(serializers.URLField())
    def get_url(self, job: Job) -> str:
        view: ProjectViewSet = self.context["view"]
        return view.url_of(job)


class JobViewSet(ReadViewSet):
    """List jobs, newest first; cancel them and start them over."""

    ordering = "-pk"
    task: ClassVar[Task]

    def start(self, job: Job) -> None:
        """Hand a queued job to the workers."""
        self.task.delay_on_commit(job.pk)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, **_: Any) -> ApiResponse:
        """Cancel a queued job at once, a running one at its next step. A finished job stays as it is."""
        job = self.get_object()
        job_request_cancel(job)
        return self.answer(job)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def retry(self, request: Request, **_: Any) -> ApiResponse:
        """Start a failed or cancelled job again."""
        job = self.get_object()
        if not job_requeue(job):
            raise Conflict(f"It is {job.get_state_display().lower()}; accepted: a failed or cancelled one.")
        self.start(job)
        return self.answer(job)


def one_named(rows: models.QuerySet[AnyModel], name: str, *, field: str, by: str = "name") -> AnyModel:
    """Return the row with this name; refuse ``field`` if it is unknown."""
    return find_named(rows, [name], field=field, by=by)[0]


def find_named(
    rows: models.QuerySet[AnyModel], names: Iterable[str], *, field: str, by: str = "name"
) -> list[AnyModel]:
    """Return the rows with these names, in the order given; refuse ``field`` if a name is unknown."""
    names = list(names)
    by_name: Mapping[str, AnyModel] = {getattr(row, by): row for row in rows.filter(**{f"{by}__in": names})}
    missing = [name for name in names if name not in by_name]
    if missing:
        accepted = ", ".join(map(str, rows.order_by(by).values_list(by, flat=True)[:50])) or "none yet"
        raise ValidationError({field: [f"Found {missing[0]!r}; accepted: {accepted}."]})
    return [by_name[name] for name in names]
