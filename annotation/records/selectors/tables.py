"""The tables of a campaign's record: what each column holds, and the SQL that reads it.

Raters appear by pseudonym, those whose pseudonym is a name that they typed as ``named-<number>``; access tokens,
providers' ids and accounts' names are in none of them.
"""

from dataclasses import dataclass
from typing import Literal

from annotation.models import Campaign
from annotation.rating.pseudonyms import MADE_HERE
from annotation.recruitment.providers import recruiting_providers

Kind = Literal["text", "whole", "number", "truth", "time", "json", "texts", "wholes"]


@dataclass(frozen=True)
class Column:
    name: str
    kind: Kind
    meaning: str
    sql: str = ""  # by default the column of this name of the table ``t``


@dataclass(frozen=True)
class Table:
    """``source`` names the database's table as ``t``; conditions take the campaign's id as ``%(campaign)s``.

    ``only_with`` names the field of the campaign without which a record has no such file.
    """

    name: str
    meaning: str
    columns: tuple[Column, ...]
    source: str
    where: str = "t.campaign_id = %(campaign)s"
    order: str = "t.id"
    only_with: str = ""

    @property
    def query(self) -> str:
        cells = ", ".join(column.sql or f't."{column.name}"' for column in self.columns)
        return f"SELECT {cells} FROM {self.source} WHERE {self.where} ORDER BY {self.order}"  # noqa: S608 - constants


PROVIDER_KEYS = [each.key for each in recruiting_providers()]
SECONDS = "coalesce({0}.seconds_given, round(extract(epoch FROM {0}.ended_at - {0}.shown_at), 3)::float8)"

NAMED = "named-"
PSEUDONYM = f"CASE WHEN r.pseudonym ~ '^({MADE_HERE})$' THEN r.pseudonym ELSE '{NAMED}' || r.id END"
RATER = Column("rater", "text", "Pseudonym, unique within the project.", PSEUDONYM)
PRESENTATION = Column("presentation", "whole", "Number of the presentation; see presentations.", "t.presentation_id")
ITEM = Column("item", "text", "The item's own id in the data set.", "i.external_id")
RESPONSE = Column("response", "whole", "Number of the response; see responses.", "x.id")
CRITERION = Column("criterion", "text", "Name of the criterion; see design.json.", "c.name")
NAME = "{0}.kind || '-' || {0}.number"  # of a prepared screen
CHECK = Column("check", "text", "Name of the prepared item, such as gold-0; see check_units.", NAME.format("k"))
VALUE = Column("value", "number", "In points of the criterion's scale; undefined if the rater could not judge.")
CANNOT_JUDGE = Column("cannot_judge", "text", "The reason given for not judging; else empty.")
SENT_AT = Column("sent_at", "time", "When it was sent, UTC.")
SOURCE_ROW = Column("source_row", "whole", "For an imported judgement: its line in the file.", "p.source_row")
TURN = Column("turn", "whole", "Of the dialogue, from 0; undefined if the question is about the whole response.")
REVISION = Column("revision", "whole", "0 at first; each correction is one more.")

ITEMS = Table(
    "items",
    "Every item that a unit of the campaign shows.",
    (
        Column("item", "text", ITEM.meaning, "t.external_id"),
        Column("position", "whole", "Position in the data set, from 0."),
        Column("context", "texts", "Turns before the message, the oldest first."),
        Column("message", "text", "The message that the responses answer."),
        Column("meaning_representation", "text", "Empty if the data set has none."),
        Column("split", "text", "Empty if the data set has no splits."),
    ),
    "annotation_item t",
    "t.id IN (SELECT item_id FROM annotation_unit WHERE campaign_id = %(campaign)s)",
    "t.position",
)

RESPONSES = Table(
    "responses",
    "Every text that a unit of the campaign shows. Identical texts of an item are one response with several sources.",
    (
        RESPONSE,
        ITEM,
        Column("text", "text", "As raters saw it.", "x.text"),
        Column("text_key", "text", "SHA-256 of the text, normalised by the rule in design.json.", "x.text_key"),
        Column(
            "sources",
            "texts",
            "Names of the systems that gave it, and kinds of other sources.",
            """ARRAY(SELECT DISTINCT COALESCE(y.name, s.kind) FROM annotation_responsesource s
               LEFT JOIN annotation_system y ON y.id = s.system_id WHERE s.response_id = x.id ORDER BY 1)""",
        ),
    ),
    "annotation_response x JOIN annotation_item i ON i.id = x.item_id",
    """x.id IN (SELECT ur.response_id FROM annotation_unitresponse ur JOIN annotation_unit u ON u.id = ur.unit_id
                WHERE u.campaign_id = %(campaign)s
                UNION SELECT standard_id FROM annotation_unit WHERE campaign_id = %(campaign)s)""",
    "x.id",
)

UNITS = Table(
    "units",
    "What is shown at once: one response, a pair, or a list of one item.",
    (
        Column("unit", "whole", "Position in the campaign's interleaved order, from 0.", "t.position"),
        ITEM,
        Column("label", "text", "The systems that it was planned for; raters never see it."),
        Column(
            "systems",
            "texts",
            "Names of those systems.",
            "ARRAY(SELECT y.name FROM annotation_system y WHERE y.id = ANY(t.systems) ORDER BY 1)",
        ),
        Column(
            "responses",
            "wholes",
            "The responses in canonical order, before any presentation shuffles it.",
            """ARRAY(SELECT ur.response_id FROM annotation_unitresponse ur WHERE ur.unit_id = t.id
               ORDER BY ur.number)""",
        ),
        Column("standard", "whole", "For magnitudes: the standard response; else undefined.", "t.standard_id"),
        Column(
            "slots", "whole", "Ratings requested.", "(SELECT count(*) FROM annotation_slot s WHERE s.unit_id = t.id)"
        ),
        Column("done_slots", "whole", "Slots filled now."),
        Column("ratings_wanted", "whole", "Slots that it has: more than the design's if topped up, or extended."),
        Column("stopped", "truth", "No longer handed out, because a system was stopped."),
    ),
    "annotation_unit t JOIN annotation_item i ON i.id = t.item_id",
    order="t.position",
)

CHECK_UNITS = Table(
    "check_units",
    "Prepared screens that are not part of the work: checks, training, the qualification test.",
    (
        Column("check", "text", CHECK.meaning, NAME.format("t")),
        Column("kind", "text", "gold, attention, degraded, anchor, training or test."),
        Column("item", "text", "The item that it shows, if it is in the data set; else undefined.", ITEM.sql),
        Column("context", "texts", "As shown."),
        Column("message", "text", "As shown."),
        Column("meaning_representation", "text", "As shown."),
        Column(
            "texts", "json", "The rated texts: text, role, response it was made from, accepted range per criterion."
        ),
        Column("standard", "text", "For magnitudes: the standard text."),
        Column("feedback", "text", "Shown after a training item."),
    ),
    "annotation_checkunit t LEFT JOIN annotation_item i ON i.id = t.item_id",
    order="t.kind, t.number",
)

PRESENTATIONS = Table(
    "presentations",
    "Every item shown to every rater, returned and lapsed ones included.",
    (
        Column("presentation", "whole", "Number of the presentation, unique within the installation.", "t.id"),
        RATER,
        Column("purpose", "text", "work, repeat, gold, attention, degraded, anchor, training or test."),
        Column("unit", "whole", "The unit shown; undefined for prepared screens.", "u.position"),
        Column("item", "text", "The item shown, if it is in the data set.", ITEM.sql),
        CHECK,
        Column("repeats", "whole", "For a repeat: the presentation that it repeats.", "t.repeats_id"),
        Column("slot", "whole", "The unit's slot that it was handed out for, from 0; only for work.", "s.number"),
        Column("order_seed", "whole", "Seed that the order on screen was drawn from."),
        Column("order", "wholes", "order[p] is the canonical number of the text at screen position p, from 0."),
        Column("shown_at", "time", "When it was handed out, by the database's clock, UTC."),
        Column("ended_at", "time", "When it was answered, returned or lapsed, UTC."),
        Column("seconds", "number", "From shown to ended, in seconds.", SECONDS.format("t")),
        Column(
            "outcome",
            "text",
            "shown, submitted, late, returned (skipped), lapsed (left or run out), replaced or imported.",
        ),
        Column("source_row", "whole", SOURCE_ROW.meaning),
    ),
    """annotation_presentation t
    JOIN annotation_rater r ON r.id = t.rater_id
    LEFT JOIN annotation_unit u ON u.id = t.unit_id
    LEFT JOIN annotation_checkunit k ON k.id = t.check_unit_id
    LEFT JOIN annotation_item i ON i.id = COALESCE(u.item_id, k.item_id)
    LEFT JOIN annotation_slot s ON s.id = t.slot_id""",
)

SYSTEM_OF_RATING = """COALESCE(y.name, (
        SELECT string_agg(DISTINCT COALESCE(of.name, s.kind), ', ') FROM annotation_responsesource s
        LEFT JOIN annotation_system of ON of.id = s.system_id WHERE s.response_id = x.id))"""

RATINGS = Table(
    "ratings",
    "Every rating ever sent, corrections and late ones included. The latest revision of one that is not extra counts.",
    (
        Column("rating", "whole", "Number, unique within the installation; ratings are never changed.", "t.id"),
        PRESENTATION,
        Column("unit", "whole", "The unit shown.", "u.position"),
        ITEM,
        RESPONSE,
        Column("text", "text", "The text rated.", "x.text"),
        Column("system", "text", "What gave the text: systems, or kinds of other sources.", SYSTEM_OF_RATING),
        Column("systems", "text", "All systems that the unit was planned for.", "u.label"),
        Column("rated_as", "text", "For imported judgements: the system under whose name it was made.", "y.name"),
        RATER,
        CRITERION,
        TURN,
        VALUE,
        CANNOT_JUDGE,
        Column("position", "whole", "Position of the response on screen, from 0; undefined if imported."),
        REVISION,
        Column("extra", "truth", "Sent after its slot had gone to another rater: stored and paid, not counted."),
        Column("seconds", "number", "From shown to sent of its presentation, in seconds.", SECONDS.format("p")),
        SENT_AT,
        SOURCE_ROW,
    ),
    """annotation_rating t
    JOIN annotation_presentation p ON p.id = t.presentation_id
    JOIN annotation_unit u ON u.id = p.unit_id
    JOIN annotation_response x ON x.id = t.response_id
    JOIN annotation_item i ON i.id = x.item_id
    JOIN annotation_rater r ON r.id = t.rater_id
    JOIN annotation_criterion c ON c.id = t.criterion_id
    LEFT JOIN annotation_system y ON y.id = t.rated_as_id""",
)

CHECK_ANSWERS = Table(
    "check_answers",
    "Every answer to a prepared item. They are never among the ratings.",
    (
        Column("answer", "whole", "Number of the answer.", "t.id"),
        PRESENTATION,
        Column("purpose", "text", "repeat, gold, attention, degraded, anchor, training or test.", "p.purpose"),
        CHECK,
        RATER,
        CRITERION,
        TURN,
        Column("number", "whole", "Of the text in canonical order, from 0: in check_units.texts or units.responses."),
        Column("position", "whole", "Position of the text on screen, from 0."),
        VALUE,
        CANNOT_JUDGE,
        REVISION,
        SENT_AT,
    ),
    """annotation_checkanswer t
    JOIN annotation_presentation p ON p.id = t.presentation_id
    JOIN annotation_rater r ON r.id = t.rater_id
    JOIN annotation_criterion c ON c.id = t.criterion_id
    LEFT JOIN annotation_checkunit k ON k.id = p.check_unit_id""",
)

COMMENTS = Table(
    "comments",
    "What raters wrote about screens; empty if a rater asked for erasure.",
    (
        Column("comment", "whole", "Number of the comment.", "t.id"),
        PRESENTATION,
        RATER,
        Column("text", "text", "As written."),
        Column("revision", "whole", "0 at first; each change is one more."),
        SENT_AT,
    ),
    "annotation_comment t JOIN annotation_rater r ON r.id = t.rater_id",
)

WRITTEN_TEXTS = Table(
    "written_texts",
    "What raters wrote for items, each revision.",
    (
        Column("written", "whole", "Number of the text.", "t.id"),
        PRESENTATION,
        ITEM,
        RATER,
        Column("text", "text", "As written."),
        Column("given", "whole", "Number of the response that it corrects; undefined for a reference.", "t.given_id"),
        Column("revision", "whole", "0 at first; each change is one more."),
        Column("pasted", "whole", "Characters that the browser reported as pasted."),
        Column("remarks", "texts", "What stands out: copy, copy_of_source, pasted, language."),
        Column("response", "whole", "Number of the response in the data set, once it was added.", "o.response_id"),
        SENT_AT,
    ),
    """annotation_writtentext t
    JOIN annotation_presentation p ON p.id = t.presentation_id
    JOIN annotation_unit u ON u.id = p.unit_id
    JOIN annotation_item i ON i.id = u.item_id
    JOIN annotation_rater r ON r.id = t.rater_id
    LEFT JOIN annotation_responsesource o ON o.id = t.source_id""",
    only_with="writing",
)

RATERS = Table(
    "raters",
    "Every rater who took part.",
    (
        RATER,
        Column(
            "providers",
            "texts",
            f"Whose recruitments of this campaign sent the rater: {', '.join(PROVIDER_KEYS)}; or none.",
            """ARRAY(SELECT DISTINCT q.provider FROM annotation_submission b
               JOIN annotation_recruitment q ON q.id = b.recruitment_id
               WHERE b.rater_id = r.id AND q.campaign_id = %(campaign)s ORDER BY 1)""",
        ),
        Column("order_seed", "whole", "The rater's own order over the units follows from it."),
        Column("joined_at", "time", "First came, UTC."),
        Column("consented_at", "time", "Agreed to take part, UTC."),
        Column("stage", "text", "training, test, work or failed (did not qualify)."),
        Column("attempt", "whole", "Tries at the qualification test."),
        Column("qualified_at", "time", "Passed it, UTC."),
        Column("finished_at", "time", "Finished, UTC."),
        Column("excluded_at", "time", "Excluded since, UTC; decisions hold the reason. The ratings stay in the log."),
        Column("flagged_at", "time", "Flagged since, UTC."),
    ),
    "annotation_rater r LEFT JOIN annotation_participation t ON t.rater_id = r.id AND t.campaign_id = %(campaign)s",
    "t.id IS NOT NULL OR r.id IN (SELECT rater_id FROM annotation_presentation WHERE campaign_id = %(campaign)s)",
    "r.id",
)

RATER_ANSWERS = Table(
    "rater_answers",
    "What raters answered about themselves: personal data, for managers only; no row of a rater who asked for erasure.",
    (
        RATER,
        Column("question", "text", "Name of the question; see questions in design.json."),
        Column("values", "texts", "The text, or each answer that was chosen; a number as text."),
        Column("answered_at", "time", "UTC."),
    ),
    """annotation_rateranswer t
    JOIN annotation_participation p ON p.id = t.participation_id
    JOIN annotation_rater r ON r.id = p.rater_id""",
    "p.campaign_id = %(campaign)s",
    only_with="questions",
)

DECISIONS = Table(
    "decisions",
    "Raters excluded, flagged or restored, each with its reason. The last one of a rater holds.",
    (
        Column("decision", "whole", "Number of the decision.", "t.id"),
        RATER,
        Column("action", "text", "exclude, include, flag or unflag."),
        Column("reason", "text", "As recorded."),
        Column("rules_version", "whole", "Of the rules that excluded; undefined if a person decided.", "q.version"),
        Column("evidence", "json", "The measures that the rule used."),
        Column("reopened_slots", "whole", "Slots opened again for other raters."),
        Column("by_a_person", "truth", "A person with an account decided.", "t.decided_by_id IS NOT NULL"),
        Column("decided_at", "time", "UTC."),
    ),
    """annotation_raterdecision t
    JOIN annotation_rater r ON r.id = t.rater_id
    LEFT JOIN annotation_qualityrules q ON q.id = t.rules_id""",
)

RULES = Table(
    "rules",
    "Every version of the rules about raters.",
    (
        Column("version", "whole", "From 1."),
        Column("rules", "json", "As annotation.weighting.exclusion reads them; names of raters replaced."),
        Column("before_launch", "truth", "Registered before any rating could be known."),
        Column("created_at", "time", "UTC."),
    ),
    "annotation_qualityrules t",
    order="t.version",
)

AMENDMENTS = Table(
    "amendments",
    "Changes beyond the frozen design, made while the campaign was running.",
    (
        Column("number", "whole", "From 1."),
        Column("kind", "text", "extend, stop_system, resume_system, add_items or top_up."),
        Column("data", "json", "The change."),
        Column("hash", "text", "SHA-256 over the hash before it (for the first: the design's) and this amendment."),
        Column("made_at", "time", "UTC."),
    ),
    "annotation_amendment t",
    order="t.number",
)

SUBMISSIONS = Table(
    "submissions",
    "Raters' stays at a provider and what they were paid, in the currency of the campaign; providers' ids left out.",
    (
        RATER,
        Column("provider", "text", f"{' or '.join(PROVIDER_KEYS)}.", "q.provider"),
        Column("recruitment", "text", "Name of the recruitment.", "q.name"),
        Column("status", "text", "active, awaiting, approved, rejected, returned, timed_out or screened_out."),
        Column("outcome", "text", "As the campaign recorded it."),
        Column("started_at", "time", "UTC."),
        Column("ended_at", "time", "UTC."),
        Column("paid", "number", "Reward paid; undefined until the provider reports it.", "t.paid::float8"),
        Column("bonus", "number", "Bonus paid.", "t.bonus::float8"),
    ),
    """annotation_submission t
    JOIN annotation_recruitment q ON q.id = t.recruitment_id
    LEFT JOIN annotation_rater r ON r.id = t.rater_id""",
    "q.campaign_id = %(campaign)s",
)

AUDIT = Table(
    "audit",
    "Who did what, when. People with accounts appear as person-<number>, known to the installation alone.",
    (
        Column("entry", "whole", "Number of the entry.", "t.id"),
        Column("at", "time", "UTC."),
        Column(
            "actor",
            "text",
            "person-<number>, rater or system.",
            """CASE WHEN t.actor_id IS NOT NULL THEN 'person-' || t.actor_id
                    WHEN t.rater_id IS NOT NULL THEN 'rater' ELSE 'system' END""",
        ),
        Column("rater", "text", "Pseudonym of the rater concerned; else undefined.", RATER.sql),
        Column("verb", "text", "Such as campaign.launch."),
        Column(
            "summary",
            "text",
            "As the audit page shows it; names of raters replaced, providers' ids blanked.",
        ),
        Column("data", "json", "Details; names of raters replaced, providers' ids blanked."),
    ),
    "annotation_auditentry t LEFT JOIN annotation_rater r ON r.id = t.rater_id",
)

# Every table above, in the order of definition.
ALL: tuple[Table, ...] = tuple(value for value in tuple(globals().values()) if isinstance(value, Table))
TABLES = {table.name: table for table in ALL}


def tables_of(campaign: Campaign) -> list[Table]:
    """Return the tables of the campaign's record."""
    return [table for table in ALL if not table.only_with or getattr(campaign, table.only_with)]
