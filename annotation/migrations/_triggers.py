"""Rules that only triggers can hold: what is append-only, and that a finished release never changes.

A deliberate purge (see annotation/core/purging.py) sets ``assay.purge`` to ``on`` in its transaction.
"""

RATINGS_AND_RELEASES = """
CREATE FUNCTION assay_refuse_rating_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('assay.purge', true) = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'ratings are append-only: % of rating % refused; a correction is a new row', lower(TG_OP), OLD.id
        USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER rating_append_only BEFORE UPDATE OR DELETE ON annotation_rating
    FOR EACH ROW EXECUTE FUNCTION assay_refuse_rating_change();

CREATE FUNCTION assay_refuse_release_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    done boolean;
BEGIN
    IF current_setting('assay.purge', true) = 'on' THEN
        RETURN COALESCE(NEW, OLD);
    END IF;
    SELECT state = 'done' INTO done FROM annotation_release WHERE id = COALESCE(OLD.release_id, NEW.release_id);
    IF done THEN
        RAISE EXCEPTION 'release % is done and immutable: % of a weight refused',
            COALESCE(OLD.release_id, NEW.release_id), lower(TG_OP)
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN COALESCE(NEW, OLD);
END $$;

CREATE TRIGGER release_weight_immutable BEFORE INSERT OR UPDATE OR DELETE ON annotation_releaseweight
    FOR EACH ROW EXECUTE FUNCTION assay_refuse_release_change();
"""

TABLES = ("checkanswer", "comment", "qualityrules", "raterdecision", "amendment", "auditentry")

RECORDS = """
CREATE FUNCTION assay_refuse_record_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('assay.purge', true) = 'on' THEN
        RETURN COALESCE(NEW, OLD);
    END IF;
    RAISE EXCEPTION '% is append-only: % of row % refused', TG_TABLE_NAME, lower(TG_OP), OLD.id
        USING ERRCODE = 'restrict_violation';
END $$;
""" + "".join(
    f"""
CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON annotation_{table}
    FOR EACH ROW EXECUTE FUNCTION assay_refuse_record_change();
"""
    for table in TABLES
)

CREATE = RATINGS_AND_RELEASES + RECORDS
DROP = """
DROP TRIGGER release_weight_immutable ON annotation_releaseweight;
DROP FUNCTION assay_refuse_release_change();
DROP TRIGGER rating_append_only ON annotation_rating;
DROP FUNCTION assay_refuse_rating_change();
DROP FUNCTION assay_refuse_record_change() CASCADE;
"""
