"""A study of either kind, asked for by a form."""

from collections.abc import Callable

from celery import Task
from django.db import transaction

from annotation.core.errors import AnnotationError
from annotation.models import Project, User
from correlations.forms import ParameterStudyForm, StudyForm
from correlations.selectors.lists import AnyStudy


def study_asked_for(
    form: StudyForm | ParameterStudyForm,
    create: Callable[..., tuple[AnyStudy, bool]],
    task: Task,
    *,
    project: Project,
    by: User,
) -> tuple[AnyStudy | None, bool]:
    """The study, and whether it is new; None where the service refuses it, which the form then tells at its fields."""
    try:
        with transaction.atomic():
            name = form.cleaned_data["name"]
            study, created = create(project=project, name=name, specification=form.specification(), by=by)
            if created:
                task.delay_on_commit(study.pk)
    except AnnotationError as error:
        form.add_refusal(error)
        return None, False
    return study, created
