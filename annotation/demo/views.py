"""Example projects: the aims, and a project for one of them."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.core.errors import AnnotationError
from annotation.core.views import UserRequest
from annotation.demo.services import EXAMPLES, TEXTS, example_create

MADE = (
    "This project is yours: a few published texts, and a draft that is ready. Launch it and rate a few items "
    "yourself, or try it with simulated raters first. When you have seen enough, delete it: Edit, Delete."
)


@login_required
@require_http_methods(["GET", "POST"])
def example_list(request: UserRequest) -> HttpResponse:
    """List the aims; a POST makes the example project of one and opens the review of its draft."""
    if request.method == "POST":
        try:
            campaign = example_create(template=request.POST.get("template", ""), by=request.user)
        except AnnotationError as error:
            messages.error(request, error.message)
        else:
            messages.success(request, MADE)
            return redirect("annotation:campaign-step", campaign.project.slug, campaign.pk, "review")
    examples = [(template, TEXTS[template.example]) for template in EXAMPLES.values()]
    return render(request, "annotation/projects/example_list.html", {"examples": examples})
