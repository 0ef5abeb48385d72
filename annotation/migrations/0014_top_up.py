from django.db import migrations, models
from django.db.models import F, Q


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0013_notifications'),
    ]

    operations = [
        migrations.AddField(
            model_name='unit',
            name='ratings_wanted',
            field=models.PositiveSmallIntegerField(default=1, help_text="How many slots it has: the campaign's ratings per item, or more where it was topped up."),
        ),
        migrations.RunSQL(
            """UPDATE annotation_unit u SET ratings_wanted = c.ratings_per_unit
               FROM annotation_campaign c WHERE c.id = u.campaign_id""",
            migrations.RunSQL.noop,
        ),
        migrations.RemoveIndex(model_name='unit', name='unit_by_fill'),
        migrations.AddIndex(
            model_name='unit',
            index=models.Index(
                condition=Q(('done_slots__lt', F('ratings_wanted')), ('stopped', False)),
                fields=['campaign', 'done_slots', 'position'],
                name='unit_by_fill',
            ),
        ),
        migrations.AlterField(
            model_name='amendment',
            name='kind',
            field=models.CharField(choices=[('extend', 'More ratings of each unit'), ('stop_system', 'A system stopped'), ('resume_system', 'A stopped system resumed'), ('add_items', 'Items added'), ('top_up', 'More ratings where they decide')], max_length=14),
        ),
    ]
