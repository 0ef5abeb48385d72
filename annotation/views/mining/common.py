"""What the pages of corpora and of mining runs share."""

from django import forms

from annotation.access import get_in_project_or_404
from annotation.errors import AnnotationError
from annotation.models import Corpus, MiningRun, Project
from annotation.selectors.mining import mining_run_rows


def corpus_or_404(project: Project, slug: str) -> Corpus:
    found = Corpus.objects.defer("content").select_related("dataset", "requested_by")
    return get_in_project_or_404(found, project, slug=slug)


def run_or_404(project: Project, pk: int) -> MiningRun:
    return get_in_project_or_404(mining_run_rows(project), project, pk=pk)


def blame(form: forms.Form, error: AnnotationError) -> None:
    """The service's refusal, at the input it is about."""
    for name, found in (error.fields or {"": [error.message]}).items():
        form.add_error(form.field_of(name), found)  # type: ignore[attr-defined] # every form here has it
