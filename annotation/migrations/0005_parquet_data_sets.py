from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0004_api_tokens")]

    operations = [
        migrations.AlterField(
            model_name="datasetimport",
            name="file_format",
            field=models.CharField(
                choices=[("jsonl", "JSON Lines"), ("csv", "CSV"), ("tsv", "TSV"), ("parquet", "Parquet")], max_length=10
            ),
        ),
    ]
