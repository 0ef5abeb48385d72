"""Answers to checks, comments, decisions, rules, amendments and the audit log are append-only like ratings."""

from django.db import migrations

TABLES = ("checkanswer", "comment", "qualityrules", "raterdecision", "amendment", "auditentry")

FUNCTION = """
CREATE FUNCTION assay_refuse_record_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('assay.purge', true) = 'on' THEN
        RETURN COALESCE(NEW, OLD);
    END IF;
    RAISE EXCEPTION '% is append-only: % of row % refused', TG_TABLE_NAME, lower(TG_OP), OLD.id
        USING ERRCODE = 'restrict_violation';
END $$;
"""
TRIGGER = """
CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON annotation_{table}
    FOR EACH ROW EXECUTE FUNCTION assay_refuse_record_change();
"""

FORWARD = FUNCTION + "".join(TRIGGER.format(table=table) for table in TABLES)
BACKWARD = "".join(f"DROP TRIGGER {table}_append_only ON annotation_{table};\n" for table in TABLES)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0004_campaigns_in_full")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD + "DROP FUNCTION assay_refuse_record_change();")]
