"""The kinds of scales and presentations are in registries, not in the tables."""

import annotation.campaigns.presentations
import annotation.campaigns.scales
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0016_providers_by_registry'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='campaign',
            name='campaign_presentation_known',
        ),
        migrations.RemoveConstraint(
            model_name='criterion',
            name='criterion_kind_known',
        ),
        migrations.AlterField(
            model_name='campaign',
            name='presentation',
            field=models.CharField(choices=annotation.campaigns.presentations.presentation_choices, default='single', max_length=20),
        ),
        migrations.AlterField(
            model_name='criterion',
            name='kind',
            field=models.CharField(choices=annotation.campaigns.scales.scale_choices, default='likert', max_length=20),
        ),
        migrations.AddConstraint(
            model_name='campaign',
            constraint=models.CheckConstraint(condition=models.Q(('presentation__regex', '^[a-z][a-z_]*$')), name='campaign_presentation_is_a_key'),
        ),
        migrations.AddConstraint(
            model_name='criterion',
            constraint=models.CheckConstraint(condition=models.Q(('kind__regex', '^[a-z][a-z_]*$')), name='criterion_kind_is_a_key'),
        ),
    ]
