"""Provider accounts, for managers: connect, test, receive messages, remove. Secrets are never shown again."""

from urllib.parse import urlsplit

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.core.access import get_in_project_or_404, get_project_or_404
from annotation.core.errors import AnnotationError
from annotation.models import Project, ProviderAccount, Role
from annotation.recruitment import services
from annotation.recruitment.forms import ProviderAccountForm, account_initial
from annotation.recruitment.providers import PROVIDERS, Provider, recruiting_providers
from annotation.recruitment.providers.base import Capability
from annotation.recruitment.selectors import accounts_of
from annotation.recruitment.services.accounts import provider_of


def _account_or_404(project: Project, pk: int) -> ProviderAccount:
    return get_in_project_or_404(ProviderAccount.objects.select_related("project"), project, pk=pk)


def provider_or_404(key: str) -> Provider:
    if not any(each.key == key for each in recruiting_providers()):
        raise Http404("No such provider.")
    return provider_of(key)


@login_required
@require_GET
def provider_account_list(request: HttpRequest, project_slug: str) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    providers = [provider_of(each.key) for each in recruiting_providers()]
    return render(
        request,
        "annotation/recruitment/provider_account_list.html",
        {"project": project, "accounts": accounts_of(project), "providers": providers},
    )


@login_required
@require_http_methods(["GET", "POST"])
def provider_account_connect(request: HttpRequest, project_slug: str, provider: str) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    service = provider_or_404(provider)
    form = ProviderAccountForm(request.POST or None, provider=provider, initial={"name": service.label})
    if request.method == "POST" and form.is_valid():
        try:
            account = services.account_connect(
                project=project,
                provider=provider,
                name=form.cleaned_data["name"],
                values=form.values,
                endpoint=form.cleaned_data.get("endpoint", ""),
                by=request.user,
            )
        except AnnotationError as error:
            refuse(form, error)
        else:
            _test(request, account)
            return redirect("annotation:provider-account", project.slug, account.pk)
    context = {"project": project, "form": form, "provider": service}
    return render(request, "annotation/recruitment/provider_account_connect.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def provider_account_detail(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    account = _account_or_404(project, pk)
    form = ProviderAccountForm(
        request.POST or None, provider=account.provider, account=account, initial=account_initial(account)
    )
    if request.method == "POST" and form.is_valid():
        try:
            services.account_update(
                account=account,
                name=form.cleaned_data["name"],
                values=form.values,
                endpoint=form.cleaned_data.get("endpoint", ""),
                by=request.user,
            )
        except AnnotationError as error:
            refuse(form, error)
        else:
            messages.success(request, "Saved.")
            return redirect("annotation:provider-account", project.slug, account.pk)
    url = _webhook_url(request, account)
    context = {
        "project": project,
        "account": account,
        "form": form,
        "sends_messages": Capability.WEBHOOKS in PROVIDERS[account.provider].capabilities,
        "webhook_url": url,
        "reachable": urlsplit(url).scheme == "https",
        "recruitments": account.recruitments.select_related("campaign").order_by("-pk"),
        "last_event": account.events.order_by("-pk").first(),
    }
    return render(request, "annotation/recruitment/provider_account_detail.html", context)


@login_required
@require_POST
def provider_account_test(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    account = _account_or_404(project, pk)
    _test(request, account)
    return redirect("annotation:provider-account", project.slug, account.pk)


def _test(request: HttpRequest, account: ProviderAccount) -> None:
    try:
        found = services.account_check(account=account)
    except AnnotationError as error:
        messages.error(request, f"The connection does not work yet. {error.message}")
        return
    balance = "" if found.balance is None else f"; balance {found.balance} {found.currency}"
    messages.success(request, f"The connection works: {found.name}{balance}.")


@login_required
@require_POST
def provider_account_messages(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    account = _account_or_404(project, pk)
    try:
        services.account_receive_messages(account=account, url=_webhook_url(request, account), by=request.user)
    except AnnotationError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "Messages are sent here from now on.")
    return redirect("annotation:provider-account", project.slug, account.pk)


@login_required
@require_POST
def provider_account_remove(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.MANAGER)
    account = _account_or_404(project, pk)
    try:
        services.account_remove(account=account, by=request.user)
    except AnnotationError as error:
        messages.error(request, error.message)
        return redirect("annotation:provider-account", project.slug, account.pk)
    messages.success(request, f"“{account.name}” was removed, with its secrets.")
    return redirect("annotation:provider-accounts", project.slug)


def _webhook_url(request: HttpRequest, account: ProviderAccount) -> str:
    return request.build_absolute_uri(reverse("annotation:provider-webhook", args=[account.pk]))


def refuse(form: object, error: AnnotationError) -> None:
    """The refusal beside the fields it speaks of; what belongs to none stands above the form."""
    fields = form.fields  # type: ignore[attr-defined]
    said = False
    for name, found in error.fields.items():
        if name in fields:
            form.add_error(name, found)  # type: ignore[attr-defined]
            said = True
    if not said:
        form.add_error(None, error.message)  # type: ignore[attr-defined]
