from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0009_results'),
    ]

    operations = [
        migrations.AddField(
            model_name='dataset',
            name='content_hash',
            field=models.CharField(blank=True, editable=False, help_text='SHA-256 of its export; empty until it is computed.', max_length=64),
        ),
    ]
