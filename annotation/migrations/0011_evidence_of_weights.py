"""Weights of earlier releases learn where their items stand; their evidence may be filled in once, and nothing else."""

from django.db import migrations

FORWARD = """
SELECT set_config('assay.purge', 'on', true);
UPDATE annotation_releaseweight AS weight SET item_position = item.position
FROM annotation_item AS item WHERE item.id = weight.item_id;
SELECT set_config('assay.purge', 'off', true);

CREATE OR REPLACE FUNCTION assay_refuse_release_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    done boolean;
BEGIN
    IF current_setting('assay.purge', true) = 'on' THEN
        RETURN COALESCE(NEW, OLD);
    END IF;
    SELECT state = 'done' INTO done FROM annotation_release WHERE id = COALESCE(OLD.release_id, NEW.release_id);
    IF done AND TG_OP = 'UPDATE' AND OLD.histogram IS NULL
       AND to_jsonb(OLD) - 'histogram' - 'rating_spread' = to_jsonb(NEW) - 'histogram' - 'rating_spread' THEN
        RETURN NEW;
    END IF;
    IF done THEN
        RAISE EXCEPTION 'release % is done and immutable: % of a weight refused', COALESCE(OLD.release_id, NEW.release_id), lower(TG_OP)
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN COALESCE(NEW, OLD);
END $$;
"""

BACKWARD = """
CREATE OR REPLACE FUNCTION assay_refuse_release_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    done boolean;
BEGIN
    IF current_setting('assay.purge', true) = 'on' THEN
        RETURN COALESCE(NEW, OLD);
    END IF;
    SELECT state = 'done' INTO done FROM annotation_release WHERE id = COALESCE(OLD.release_id, NEW.release_id);
    IF done THEN
        RAISE EXCEPTION 'release % is done and immutable: % of a weight refused', COALESCE(OLD.release_id, NEW.release_id), lower(TG_OP)
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN COALESCE(NEW, OLD);
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("annotation", "0010_reference_sets_in_full")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
