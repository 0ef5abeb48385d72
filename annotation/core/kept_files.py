"""Forms that keep their file: after a refusal it stays on the server, and the form names it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django import forms
from django.core.files.base import File
from django.core.files.uploadedfile import SimpleUploadedFile, UploadedFile
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.datastructures import MultiValueDict

from annotation.core.forms import RefusableForm
from annotation.core.problems import storable
from annotation.models import DatasetImport, Job, KeptFile, Project, User

KEPT_HOURS = 24
KEPT_EACH = 5  # files that a user can have on a project's forms; the oldest makes room
# How keys begin: of a kept file, of an earlier import's of the form, of a data set's import.
KEPT, EARLIER, TEXTS = "file", "import", "texts"
LONGEST_ID = 18  # digits, below the largest key
LOST = "The file is kept no longer; choose it again."

Result = TypeVar("Result")


@dataclass(frozen=True)
class FileKeeper:
    """Keeps files of a user's forms in a project.

    A form may also take the file of one of the ``earlier`` imports, or that of a data set's ``texts``.
    """

    project: Project
    user: User
    earlier: QuerySet[Any] | None = None
    texts: QuerySet[DatasetImport] | None = None

    def find(self, key: str) -> SimpleUploadedFile | None:
        """Return the file with this key; None if there is none, or none of this user and project."""
        kind, _, number = key.partition("-")
        sources: dict[str, QuerySet[Any] | None] = {KEPT: self._mine, EARLIER: self.earlier, TEXTS: self.texts}
        rows = sources.get(kind)
        if rows is None or not (number.isascii() and number.isdigit() and len(number) <= LONGEST_ID):
            return None
        row = rows.filter(project=self.project, pk=number).first()
        return SimpleUploadedFile(row.filename, bytes(row.content)) if row else None

    def keep(self, file: "File[Any]") -> str:
        """Store a file and return its key."""
        file.seek(0)
        row = KeptFile.objects.create(
            project=self.project, user=self.user, filename=storable(file.name or "file")[:255], content=file.read()
        )
        older = self._mine.order_by("-pk").values_list("pk", flat=True)[KEPT_EACH:]
        KeptFile.objects.filter(pk__in=list(older)).delete()
        return f"{KEPT}-{row.pk}"

    def forget(self, key: str) -> None:
        """Delete a file that was kept; one of an earlier import stays there."""
        kind, _, number = key.partition("-")
        if kind == KEPT and number.isdecimal():
            self._mine.filter(pk=number).delete()

    def until(self, key: str) -> datetime | None:
        """Return when the kept file with this key is deleted; None for an earlier import's, which stays with it."""
        kind, _, number = key.partition("-")
        row = self._mine.defer("content").filter(pk=number).first() if kind == KEPT else None
        return row.kept_at + timedelta(hours=KEPT_HOURS) if row else None

    @staticmethod
    def key_of(job: Job) -> str:
        """Return the key of an earlier import's file."""
        return f"{EARLIER}-{job.pk}"

    @property
    def _mine(self) -> QuerySet[KeptFile]:
        return KeptFile.objects.filter(project=self.project, user=self.user)


def kept_files_sweep() -> None:
    """Delete files that were kept for long enough."""
    KeptFile.objects.filter(kept_at__lt=Now() - timedelta(hours=KEPT_HOURS)).delete()


class KeptFileForm(RefusableForm):
    """Base of forms with a ``file`` and a hidden ``kept``: the key of the file that the server keeps."""

    kept = forms.CharField(required=False, max_length=30, widget=forms.HiddenInput)

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        files: "MultiValueDict[str, UploadedFile[Any]] | None" = None,
        *,
        keeper: FileKeeper,
        **kwargs: Any,
    ) -> None:
        super().__init__(data, files, **kwargs)
        self.keeper = keeper
        self._is_new = self.is_bound and bool(self.files.get("file"))
        key = self.data.get("kept", "") if self.is_bound else self.initial.get("kept", "")
        if not key or self._is_new:
            return
        file = keeper.find(key)
        if file and self.is_bound:
            self.files = MultiValueDict({"file": [file]})
        elif file:
            self._name_kept(file, key)
        else:
            self._set_key("")
            self.fields["file"].error_messages["required"] = LOST

    def submit(self, service: Callable[..., Result], **arguments: Any) -> Result | None:
        """Call a service as ``RefusableForm`` does. Keep the file if it refuses; else it is kept no longer."""
        result = super().submit(service, **arguments)
        if result is not None:
            self.forget_file()
        elif self.is_bound:
            self.keep_file()
        return result

    def keep_file(self) -> None:
        """Keep the file of a form that is shown again, unless the file itself is what cannot be accepted."""
        file = self.cleaned_data.get("file")
        if file is None:
            return
        if self._is_new:
            self.forget_file()
            self._set_key(self.keeper.keep(file))
        self._name_kept(file, self.data.get("kept", ""))

    def forget_file(self) -> None:
        """Delete the kept file."""
        self.keeper.forget(self.data.get("kept", ""))

    def _name_kept(self, file: "File[Any]", key: str) -> None:
        field = self.fields["file"]
        field.required = field.widget.is_required = False
        kept = file, self.keeper.until(key)
        field.kept_file, field.kept_until = kept  # type: ignore[attr-defined] # for components/field.html

    def _set_key(self, key: str) -> None:
        if self.is_bound:
            data = self.data.copy()  # type: ignore[attr-defined] # a bound form has a QueryDict
            data["kept"] = key
            self.data = data
        else:
            self.initial = {**self.initial, "kept": key}
