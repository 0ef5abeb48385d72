"""Create a study of either kind from a form."""

from collections.abc import Callable

from celery import Task
from django.db import transaction

from annotation.core.errors import AnnotationError
from annotation.models import Project, User
from correlations.forms import ParameterStudyForm, StudyForm
from correlations.selectors.lists import AnyStudy


def study_from_form(
    form: StudyForm | ParameterStudyForm,
    create: Callable[..., tuple[AnyStudy, bool]],
    task: Task,
    *,
    project: Project,
    by: User,
) -> tuple[AnyStudy | None, bool]:
    """Return the study, and whether it is new; None if the service refuses it. The form then shows the errors."""
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
