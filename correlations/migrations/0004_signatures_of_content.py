from typing import Any

from django.db import migrations


def keep_newest_rating(apps: Any, schema_editor: Any) -> None:
    """Move the ids of ratings and raters out of what a study names; its signature stays as it was."""
    Rater = apps.get_model("annotation", "Rater")
    for name in ("Study", "ParameterStudy"):
        for study in apps.get_model("correlations", name).objects.only("project_id", "specification").iterator():
            named = study.specification.get("named")
            if not named or "last_rating_id" in study.specification:
                continue
            marks = named["ratings"].values()
            study.specification["last_rating_id"] = max((mark.pop("last") for mark in marks), default=0)
            if "without_raters" in named:
                raters = list(Rater.objects.filter(project=study.project_id).order_by("pk").values_list("pk", flat=True))
                places = {pk: place for place, pk in enumerate(raters, start=1)}
                named["without_raters"] = [places[pk] for pk in named["without_raters"] if pk in places]
            study.save(update_fields=["specification"])


class Migration(migrations.Migration):
    dependencies = [("correlations", "0003_results_of_earlier_versions"), ("annotation", "0010_dataset_content_hash")]
    operations = [migrations.RunPython(keep_newest_rating, migrations.RunPython.noop)]
