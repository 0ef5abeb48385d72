"""Providers are known by their registry; what only one provider asks of a study is stored apart."""

from django.db import migrations, models

import annotation.models.recruitment

FIELDS = ("keywords", "devices", "countries")


def gather(apps, schema_editor):
    recruitments = apps.get_model("annotation", "Recruitment").objects.all()
    for recruitment in recruitments.only("options").iterator():
        extra = {name: recruitment.options.pop(name, None) for name in FIELDS}
        recruitment.options["extra"] = {name: value for name, value in extra.items() if value}
        recruitment.save(update_fields=["options"])


class Migration(migrations.Migration):
    dependencies = [("annotation", "0015_columns_from_the_table_of_fields")]

    operations = [
        migrations.RemoveConstraint("provideraccount", "provider_account_provider_known"),
        migrations.RemoveConstraint("recruitment", "recruitment_provider_known"),
        migrations.AlterField(
            "provideraccount",
            "provider",
            models.CharField(choices=annotation.models.recruitment.provider_choices, max_length=20),
        ),
        migrations.AlterField(
            "recruitment",
            "provider",
            models.CharField(choices=annotation.models.recruitment.provider_choices, max_length=20),
        ),
        migrations.AlterField(
            "recruitment",
            "external_id",
            models.CharField(blank=True, help_text="The study's id at the provider.", max_length=100),
        ),
        migrations.AlterField(
            "submission",
            "submit_to",
            models.URLField(blank=True, help_text="Checked origin that the last form is posted to."),
        ),
        migrations.AlterField(
            "rateridentity",
            "provider",
            models.CharField(help_text="Key of a provider; or account, import, aggregate.", max_length=20),
        ),
        migrations.RunPython(gather, migrations.RunPython.noop),
    ]
