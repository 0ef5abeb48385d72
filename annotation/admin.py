"""Read-only views of the tables for administrators. Changes go through the services, which keep the rules."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.http import HttpRequest

from annotation.models import (
    Amendment,
    ApiToken,
    AuditEntry,
    Campaign,
    CheckAnswer,
    Comment,
    Corpus,
    Criterion,
    Dataset,
    DatasetImport,
    DryRun,
    Identity,
    Item,
    Membership,
    MiningRun,
    Participation,
    Project,
    ProviderAccount,
    ProviderEvent,
    QualityRules,
    Rater,
    RaterDecision,
    Rating,
    RatingImport,
    Recruitment,
    ReferenceSet,
    Release,
    Response,
    ResponseSource,
    Submission,
    System,
    User,
)
from annotation.models.identities import digests_of, shown


class ReadOnly:
    """Forbid every change: the admin would go around the services' rules."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnlyAdmin(ReadOnly, admin.ModelAdmin):  # type: ignore[type-arg] # it takes none when it runs
    pass


class ReadOnlyInline(ReadOnly, admin.TabularInline):  # type: ignore[type-arg] # as above
    extra = 0


class NoSandboxes:
    """Hide the temporary copies of dry runs; ``sandbox`` is the path to the field that marks them."""

    sandbox = "project__is_sandbox"

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).filter(**{self.sandbox: False})  # type: ignore[misc]


class MembershipInline(admin.TabularInline):  # type: ignore[type-arg] # as above
    model = Membership
    extra = 0
    autocomplete_fields = ("user",)


@admin.register(Project)
class ProjectAdmin(NoSandboxes, admin.ModelAdmin):  # type: ignore[type-arg] # as above
    sandbox = "is_sandbox"
    list_display = ("name", "slug", "created_at")
    search_fields = ("name", "slug")
    prepopulated_fields = {"slug": ("name",)}
    inlines = (MembershipInline,)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Dataset)
class DatasetAdmin(ReadOnlyAdmin):
    list_display = ("name", "project", "language", "licence", "normalisation", "created_at")
    list_select_related = ("project",)
    search_fields = ("name", "slug")


@admin.register(System)
class SystemAdmin(ReadOnlyAdmin):
    list_display = ("name", "dataset")
    list_select_related = ("dataset",)
    search_fields = ("name",)


@admin.register(Item)
class ItemAdmin(ReadOnlyAdmin):
    list_display = ("external_id", "dataset", "position")
    list_select_related = ("dataset",)
    search_fields = ("external_id",)
    show_full_result_count = False


class SourceInline(ReadOnlyInline):
    model = ResponseSource
    raw_id_fields = ("item", "system")


@admin.register(Response)
class ResponseAdmin(ReadOnlyAdmin):
    list_display = ("__str__", "item")
    list_select_related = ("item",)
    inlines = (SourceInline,)
    show_full_result_count = False


class CriterionInline(ReadOnlyInline):
    model = Criterion


@admin.register(Campaign)
class CampaignAdmin(NoSandboxes, ReadOnlyAdmin):
    list_display = ("name", "project", "state", "imported", "presentation", "ratings_per_unit", "created_at")
    list_select_related = ("project",)
    list_filter = ("state", "imported", "presentation")
    search_fields = ("name",)
    inlines = (CriterionInline,)


@admin.register(Rater)
class RaterAdmin(NoSandboxes, ReadOnlyAdmin):
    list_display = ("pseudonym", "project", "created_at")
    list_select_related = ("project",)
    search_fields = ("pseudonym",)
    exclude = ("access_token",)


@admin.register(Rating)
class RatingAdmin(NoSandboxes, ReadOnlyAdmin):
    sandbox = "campaign__project__is_sandbox"
    list_display = ("id", "campaign", "rater", "criterion", "value", "revision", "extra", "created_at")
    list_select_related = ("campaign", "rater", "criterion")
    show_full_result_count = False


@admin.register(CheckAnswer)
class CheckAnswerAdmin(NoSandboxes, ReadOnlyAdmin):
    sandbox = "campaign__project__is_sandbox"
    list_display = ("id", "campaign", "rater", "criterion", "value", "revision", "sent_at")
    list_select_related = ("campaign", "rater", "criterion")
    show_full_result_count = False


@admin.register(Comment)
class CommentAdmin(NoSandboxes, ReadOnlyAdmin):
    sandbox = "campaign__project__is_sandbox"
    list_display = ("__str__", "campaign", "rater", "revision", "sent_at")
    list_select_related = ("campaign", "rater")


@admin.register(Participation)
class ParticipationAdmin(NoSandboxes, ReadOnlyAdmin):
    sandbox = "campaign__project__is_sandbox"
    list_display = ("rater", "campaign", "stage", "attempt", "finished_at", "excluded_at", "flagged_at")
    list_select_related = ("rater", "campaign")
    list_filter = ("stage",)


@admin.register(RaterDecision)
class RaterDecisionAdmin(NoSandboxes, ReadOnlyAdmin):
    sandbox = "campaign__project__is_sandbox"
    list_display = ("rater", "campaign", "action", "reason", "reopened_slots", "decided_by", "decided_at")
    list_select_related = ("rater", "campaign", "decided_by")
    list_filter = ("action",)


@admin.register(QualityRules)
class QualityRulesAdmin(NoSandboxes, ReadOnlyAdmin):
    sandbox = "campaign__project__is_sandbox"
    list_display = ("campaign", "version", "before_launch", "created_by", "created_at")
    list_select_related = ("campaign", "created_by")


@admin.register(Amendment)
class AmendmentAdmin(NoSandboxes, ReadOnlyAdmin):
    sandbox = "campaign__project__is_sandbox"
    list_display = ("campaign", "number", "kind", "made_by", "made_at")
    list_select_related = ("campaign", "made_by")
    list_filter = ("kind",)


@admin.register(AuditEntry)
class AuditEntryAdmin(NoSandboxes, ReadOnlyAdmin):
    list_display = ("at", "project", "campaign", "actor", "verb", "summary")
    list_select_related = ("project", "campaign", "actor")
    search_fields = ("verb", "summary")
    show_full_result_count = False


@admin.register(DryRun)
class DryRunAdmin(ReadOnlyAdmin):
    list_display = ("id", "campaign", "state", "created_at")
    list_select_related = ("campaign",)
    list_filter = ("state",)


@admin.register(ProviderAccount)
class ProviderAccountAdmin(ReadOnlyAdmin):
    list_display = ("name", "project", "provider", "created_at")
    list_select_related = ("project",)
    readonly_fields = ("endpoint",)  # no form field: Django 5.2 warns of a default scheme there
    exclude = ("secrets",)


@admin.register(Recruitment)
class RecruitmentAdmin(ReadOnlyAdmin):
    list_display = ("name", "campaign", "provider", "state", "external_id", "refreshed_at")
    list_select_related = ("campaign",)
    list_filter = ("provider", "state")


@admin.register(Submission)
class SubmissionAdmin(ReadOnlyAdmin):
    list_display = ("shown_id", "recruitment", "rater", "status", "outcome", "paid", "bonus")
    list_select_related = ("recruitment", "rater")
    list_filter = ("status",)
    readonly_fields = ("shown_id", "submit_to")  # as above
    search_fields = ("digest",)
    search_help_text = "The whole id at the provider: it is encrypted."

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        term = search_term.strip()
        return (queryset.filter(digest__in=digests_of(term)) if term else queryset), False


@admin.register(ProviderEvent)
class ProviderEventAdmin(ReadOnlyAdmin):
    list_display = ("event_id", "account", "kind", "received_at", "handled_at", "error")
    list_select_related = ("account",)
    readonly_fields = ("message", "error")
    search_fields = ("event_id",)

    def message(self, event: ProviderEvent) -> str:
        return shown(event.sealed_payload, "json")


@admin.register(DatasetImport, RatingImport)
class ImportAdmin(ReadOnlyAdmin):
    list_display = ("name", "project", "filename", "state", "created_at")
    list_select_related = ("project",)
    list_filter = ("state",)
    exclude = ("content",)

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).defer("content")


@admin.register(Corpus)
class CorpusAdmin(ImportAdmin):
    list_display = ("name", "project", "state", "n_triples", "created_at")


@admin.register(MiningRun)
class MiningRunAdmin(ReadOnlyAdmin):
    list_display = ("id", "project", "dataset", "corpus", "state", "stored_at")
    list_select_related = ("project", "dataset", "corpus")
    list_filter = ("state",)


@admin.register(ReferenceSet)
class ReferenceSetAdmin(ReadOnlyAdmin):
    list_display = ("name", "project", "dataset")
    list_select_related = ("project", "dataset")


@admin.register(Release)
class ReleaseAdmin(ReadOnlyAdmin):
    list_display = ("reference_set", "number", "method", "state", "created_at")
    list_select_related = ("reference_set",)
    list_filter = ("state", "method")


admin.site.register(User, UserAdmin)


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    """No token can be read here: only hashes are stored. A new password ends an account's tokens."""

    list_display = ("name", "ending", "user", "created_at", "expires_at", "last_used_at", "revoked_at")
    list_select_related = ("user",)
    search_fields = ("name", "user__username")
    exclude = ("digest",)


@admin.register(Identity)
class IdentityAdmin(ReadOnlyAdmin):
    """Links to single sign-on. To delete one ends it: the account is then linked to whom it is used by next."""

    list_display = ("user", "issuer", "subject", "created_at", "last_used_at")
    list_select_related = ("user",)
    search_fields = ("user__username", "subject")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return admin.ModelAdmin.has_delete_permission(self, request, obj)
