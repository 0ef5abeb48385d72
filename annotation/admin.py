"""A look at the tables for whoever runs the server. What is append-only or written by workers can only be read here."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.http import HttpRequest

from annotation.models import (
    Campaign,
    Criterion,
    Dataset,
    DatasetImport,
    Item,
    Membership,
    Project,
    Rater,
    Rating,
    RatingImport,
    ReferenceSet,
    Release,
    Response,
    ResponseSource,
    System,
    User,
)


class ReadOnly:
    """Changes go through the services, which keep the rules; the admin would go around them."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class NoSandboxes:
    """The throw-away copies of dry runs are nobody's to look at; ``sandbox`` is the way to what says so."""

    sandbox = "project__is_sandbox"

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).filter(**{self.sandbox: False})  # type: ignore[misc]


class MembershipInline(admin.TabularInline):
    model = Membership
    extra = 0
    autocomplete_fields = ("user",)


@admin.register(Project)
class ProjectAdmin(NoSandboxes, admin.ModelAdmin):
    sandbox = "is_sandbox"
    list_display = ("name", "slug", "created_at")
    search_fields = ("name", "slug")
    prepopulated_fields = {"slug": ("name",)}
    inlines = (MembershipInline,)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Dataset)
class DatasetAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ("name", "project", "language", "licence", "normalisation", "created_at")
    list_select_related = ("project",)
    search_fields = ("name", "slug")


@admin.register(System)
class SystemAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ("name", "dataset")
    list_select_related = ("dataset",)
    search_fields = ("name",)


@admin.register(Item)
class ItemAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ("external_id", "dataset", "position")
    list_select_related = ("dataset",)
    search_fields = ("external_id",)
    show_full_result_count = False


class SourceInline(ReadOnly, admin.TabularInline):
    model = ResponseSource
    extra = 0
    raw_id_fields = ("item", "system")


@admin.register(Response)
class ResponseAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ("__str__", "item")
    list_select_related = ("item",)
    inlines = (SourceInline,)
    show_full_result_count = False


class CriterionInline(ReadOnly, admin.TabularInline):
    model = Criterion
    extra = 0


@admin.register(Campaign)
class CampaignAdmin(NoSandboxes, ReadOnly, admin.ModelAdmin):
    list_display = ("name", "project", "state", "imported", "presentation", "ratings_per_unit", "created_at")
    list_select_related = ("project",)
    list_filter = ("state", "imported", "presentation")
    search_fields = ("name",)
    inlines = (CriterionInline,)


@admin.register(Rater)
class RaterAdmin(NoSandboxes, ReadOnly, admin.ModelAdmin):
    list_display = ("pseudonym", "project", "created_at")
    list_select_related = ("project",)
    search_fields = ("pseudonym",)
    exclude = ("access_token",)


@admin.register(Rating)
class RatingAdmin(NoSandboxes, ReadOnly, admin.ModelAdmin):
    sandbox = "campaign__project__is_sandbox"
    list_display = ("id", "campaign", "rater", "criterion", "value", "revision", "extra", "created_at")
    list_select_related = ("campaign", "rater", "criterion")
    show_full_result_count = False


@admin.register(DatasetImport, RatingImport)
class ImportAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ("name", "project", "filename", "state", "created_at")
    list_select_related = ("project",)
    list_filter = ("state",)
    exclude = ("content",)

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).defer("content")


@admin.register(ReferenceSet)
class ReferenceSetAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ("name", "project", "dataset")
    list_select_related = ("project", "dataset")


@admin.register(Release)
class ReleaseAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ("reference_set", "number", "method", "state", "created_at")
    list_select_related = ("reference_set",)
    list_filter = ("state", "method")


admin.site.register(User, UserAdmin)
