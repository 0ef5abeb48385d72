"""Figures of large releases, imports of weights and selections of seeds are computed by workers."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0012_browse_indexes"),
    ]

    operations = [
        migrations.CreateModel(
            name="ReleaseFigures",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("progress_done", models.PositiveIntegerField(default=0)),
                ("progress_total", models.PositiveIntegerField(default=0)),
                ("progress_note", models.CharField(blank=True, max_length=200)),
                ("attempt", models.PositiveSmallIntegerField(default=0)),
                ("lease_token", models.UUIDField(blank=True, editable=False, null=True)),
                ("lease_expires_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("cancel_requested", models.BooleanField(default=False)),
                ("error", models.TextField(blank=True)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False),
                ),
                ("started_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("finished_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "part",
                    models.CharField(
                        choices=[
                            ("attention", "What to look at"),
                            ("sensitivity", "Sensitivity"),
                            ("influence", "Influence of raters"),
                            ("texts", "Texts on both sides"),
                        ],
                        max_length=12,
                    ),
                ),
                (
                    "key",
                    models.CharField(help_text="SHA-256 over everything that the figures follow from.", max_length=64),
                ),
                ("content", models.BinaryField(help_text="See annotation.packing.", null=True)),
                (
                    "release",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="figures", to="annotation.release"
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "release figures",
                "ordering": ("release", "part", "id"),
                "abstract": False,
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["queued", "running", "done", "failed", "cancelled"])),
                        name="releasefigures_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("lease_expires_at__isnull", False),
                                ("lease_token__isnull", False),
                                ("state", "running"),
                            ),
                            models.Q(
                                models.Q(("state", "running"), _negated=True),
                                ("lease_expires_at__isnull", True),
                                ("lease_token__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="releasefigures_leased_only_while_running",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("finished_at__isnull", False), ("state__in", ("done", "failed", "cancelled"))),
                            models.Q(
                                models.Q(("state__in", ("done", "failed", "cancelled")), _negated=True),
                                ("finished_at__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="releasefigures_finished_has_a_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("part__in", ["attention", "sensitivity", "influence", "texts"])),
                        name="release_figures_part_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "done"), _negated=True), ("content__isnull", False), _connector="OR"
                        ),
                        name="release_figures_done_are_there",
                    ),
                    models.UniqueConstraint(fields=("release", "part", "key"), name="release_figures_once_per_key"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SeedSelecting",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("progress_done", models.PositiveIntegerField(default=0)),
                ("progress_total", models.PositiveIntegerField(default=0)),
                ("progress_note", models.CharField(blank=True, max_length=200)),
                ("attempt", models.PositiveSmallIntegerField(default=0)),
                ("lease_token", models.UUIDField(blank=True, editable=False, null=True)),
                ("lease_expires_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("cancel_requested", models.BooleanField(default=False)),
                ("error", models.TextField(blank=True)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False),
                ),
                ("started_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("finished_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("asked", models.JSONField(default=dict)),
                ("report", models.JSONField(blank=True, default=dict, help_text="Of a refusal, by field.")),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="seed_selectings",
                        to="annotation.dataset",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="seed_selectings",
                        to="annotation.project",
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "selection",
                    models.ForeignKey(
                        blank=True,
                        help_text="Set when done.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="annotation.seedselection",
                    ),
                ),
            ],
            options={
                "ordering": ("-id",),
                "abstract": False,
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["queued", "running", "done", "failed", "cancelled"])),
                        name="seedselecting_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("lease_expires_at__isnull", False),
                                ("lease_token__isnull", False),
                                ("state", "running"),
                            ),
                            models.Q(
                                models.Q(("state", "running"), _negated=True),
                                ("lease_expires_at__isnull", True),
                                ("lease_token__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="seedselecting_leased_only_while_running",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("finished_at__isnull", False), ("state__in", ("done", "failed", "cancelled"))),
                            models.Q(
                                models.Q(("state__in", ("done", "failed", "cancelled")), _negated=True),
                                ("finished_at__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="seedselecting_finished_has_a_time",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="WeightsImport",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("progress_done", models.PositiveIntegerField(default=0)),
                ("progress_total", models.PositiveIntegerField(default=0)),
                ("progress_note", models.CharField(blank=True, max_length=200)),
                ("attempt", models.PositiveSmallIntegerField(default=0)),
                ("lease_token", models.UUIDField(blank=True, editable=False, null=True)),
                ("lease_expires_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("cancel_requested", models.BooleanField(default=False)),
                ("error", models.TextField(blank=True)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False),
                ),
                ("started_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("finished_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("filename", models.CharField(max_length=255)),
                (
                    "content",
                    models.BinaryField(help_text="In the database, so that any worker on any host can read it."),
                ),
                ("options", models.JSONField(blank=True, default=dict)),
                ("report", models.JSONField(blank=True, default=dict)),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="weights_imports",
                        to="annotation.dataset",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="weights_imports",
                        to="annotation.project",
                    ),
                ),
                (
                    "reference_set",
                    models.ForeignKey(
                        blank=True,
                        help_text="Whose next release it is to be; none where a set is to be made.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="annotation.referenceset",
                    ),
                ),
                (
                    "release",
                    models.ForeignKey(
                        blank=True,
                        help_text="Set when done.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="annotation.release",
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("-id",),
                "abstract": False,
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["queued", "running", "done", "failed", "cancelled"])),
                        name="weightsimport_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("lease_expires_at__isnull", False),
                                ("lease_token__isnull", False),
                                ("state", "running"),
                            ),
                            models.Q(
                                models.Q(("state", "running"), _negated=True),
                                ("lease_expires_at__isnull", True),
                                ("lease_token__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="weightsimport_leased_only_while_running",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("finished_at__isnull", False), ("state__in", ("done", "failed", "cancelled"))),
                            models.Q(
                                models.Q(("state__in", ("done", "failed", "cancelled")), _negated=True),
                                ("finished_at__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="weightsimport_finished_has_a_time",
                    ),
                ],
            },
        ),
    ]
