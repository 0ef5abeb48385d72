from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('metrics', '0002_numbers_groups_places'),
    ]

    operations = [
        migrations.AlterField(
            model_name='systemscore',
            name='p_best',
            field=models.FloatField(blank=True, help_text='Of the difference to the best score, corrected for all pairs; null: the best, or not tested.', null=True),
        ),
    ]
