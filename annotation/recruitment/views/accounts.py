"""Provider accounts, for managers: connect, test, receive messages, remove. Secrets are never shown again."""

from urllib.parse import urlsplit

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.core.errors import AnnotationError
from annotation.core.views import MemberRequest, object_view, perform, project_view
from annotation.models import ProviderAccount, Role
from annotation.projects.services.editing import version_of
from annotation.recruitment.forms import ProviderAccountForm
from annotation.recruitment.lookups import account_or_404, provider_or_404
from annotation.recruitment.providers import PROVIDERS, recruiting_providers
from annotation.recruitment.providers.base import Capability
from annotation.recruitment.selectors import accounts_of
from annotation.recruitment.services import accounts as services
from annotation.recruitment.services.accounts import account_shown, provider_of


@require_GET
@project_view(Role.MANAGER)
def provider_account_list(request: MemberRequest) -> HttpResponse:
    context = {
        "project": request.project,
        "accounts": accounts_of(request.project),
        "providers": [provider_of(each.key) for each in recruiting_providers()],
    }
    return render(request, "annotation/recruitment/provider_account_list.html", context)


@require_http_methods(["GET", "POST"])
@project_view(Role.MANAGER)
def provider_account_connect(request: MemberRequest, provider: str) -> HttpResponse:
    service = provider_or_404(provider)
    form = ProviderAccountForm(request.POST or None, provider=provider, initial={"name": service.label})
    if account := form.submit(services.account_connect, project=request.project, provider=provider, by=request.user):
        _test(request, account)
        return _to_account(account)
    context = {"project": request.project, "form": form, "provider": service, "title": f"Connect {service.label}"}
    return render(request, "annotation/recruitment/provider_account_connect.html", context)


@require_http_methods(["GET", "POST"])
@object_view(account_or_404, Role.MANAGER)
def provider_account_detail(request: MemberRequest, account: ProviderAccount) -> HttpResponse:
    shown = account_shown(account)
    initial = shown | {"version": version_of(shown)}
    form = ProviderAccountForm(request.POST or None, provider=account.provider, account=account, initial=initial)
    if form.submit(services.account_update, account=account, by=request.user):
        messages.success(request, "Saved.")
        return _to_account(account)
    url = _webhook_url(request, account)
    balance = account.options.get("balance")
    context = {
        "project": request.project,
        "account": account,
        "form": form,
        "balance": f"{balance} {account.options['currency']}" if balance else "",
        "sends_messages": Capability.WEBHOOKS in PROVIDERS[account.provider].capabilities,
        "reachable": urlsplit(url).scheme == "https",
        "recruitments": account.recruitments.select_related("campaign").order_by("-pk"),
        "last_event": account.events.order_by("-pk").first(),
    }
    return render(request, "annotation/recruitment/provider_account_detail.html", context)


@require_POST
@object_view(account_or_404, Role.MANAGER)
def provider_account_test(request: MemberRequest, account: ProviderAccount) -> HttpResponse:
    _test(request, account)
    return _to_account(account)


def _test(request: HttpRequest, account: ProviderAccount) -> None:
    try:
        holder = services.account_check(account=account)
    except AnnotationError as error:
        messages.error(request, f"The connection does not work yet. {error.message}")
        return
    balance = "" if holder.balance is None else f"; balance {holder.balance} {holder.currency}"
    messages.success(request, f"The connection works: {holder.name}{balance}.")


@require_POST
@object_view(account_or_404, Role.MANAGER)
def provider_account_messages(request: MemberRequest, account: ProviderAccount) -> HttpResponse:
    url = _webhook_url(request, account)
    perform(request, services.account_receive_messages, "Messages are sent here from now on.", account=account, url=url)
    return _to_account(account)


@require_POST
@object_view(account_or_404, Role.MANAGER)
def provider_account_remove(request: MemberRequest, account: ProviderAccount) -> HttpResponse:
    if perform(request, services.account_remove, f"“{account.name}” was removed, with its secrets.", account=account):
        return redirect("annotation:provider-accounts", request.project.slug)
    return _to_account(account)


def _to_account(account: ProviderAccount) -> HttpResponse:
    return redirect("annotation:provider-account", account.project.slug, account.pk)


def _webhook_url(request: HttpRequest, account: ProviderAccount) -> str:
    return request.build_absolute_uri(reverse("annotation:provider-webhook", args=[account.pk]))
