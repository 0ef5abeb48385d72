"""The tables of a campaign's record: what each column holds, and the query that reads it.

Raters appear by pseudonym; access tokens, providers' ids and accounts' names are in none of them.
"""

from dataclasses import dataclass
from typing import Literal

from annotation.recruitment.providers import recruiting_providers

Kind = Literal["text", "whole", "number", "truth", "time", "json", "texts", "wholes"]


@dataclass(frozen=True)
class Column:
    name: str
    kind: Kind
    meaning: str


@dataclass(frozen=True)
class Table:
    """``query`` takes the campaign's id as ``%(campaign)s`` and answers with ``columns`` in their order."""

    name: str
    meaning: str
    columns: tuple[Column, ...]
    query: str


PROVIDER_KEYS = [each.key for each in recruiting_providers()]

RATER = Column("rater", "text", "Pseudonym, unique within the project.")
PRESENTATION = Column("presentation", "whole", "Number of the presentation; see presentations.")
ITEM = Column("item", "text", "The item's own id in the data set.")
RESPONSE = Column("response", "whole", "Number of the response; see responses.")
CRITERION = Column("criterion", "text", "Name of the criterion; see design.json.")
CHECK = Column("check", "text", "Kind and number of the prepared screen, such as gold-0; see check_units.")

ITEMS = Table(
    "items",
    "Every item that a unit of the campaign shows.",
    (
        ITEM,
        Column("position", "whole", "Place in the data set, from 0."),
        Column("context", "texts", "Turns before the message, the oldest first."),
        Column("message", "text", "The message that the responses answer."),
        Column("meaning_representation", "text", "Where the data set has one; else empty."),
        Column("split", "text", "Where the data set has splits; else empty."),
    ),
    """
    SELECT i.external_id, i.position, i.context, i.message, i.meaning_representation, i.split
    FROM annotation_item i
    WHERE i.id IN (SELECT item_id FROM annotation_unit WHERE campaign_id = %(campaign)s)
    ORDER BY i.position
    """,
)

RESPONSES = Table(
    "responses",
    "Every text that a unit of the campaign shows. Identical texts of an item are one response with several sources.",
    (
        RESPONSE,
        ITEM,
        Column("text", "text", "As raters saw it."),
        Column("text_key", "text", "SHA-256 of the text normalised by the data set's rule (design.json)."),
        Column("sources", "texts", "Names of the systems that gave it, and kinds of other sources."),
    ),
    """
    SELECT r.id, i.external_id, r.text, r.text_key,
           ARRAY(SELECT DISTINCT COALESCE(y.name, s.kind) FROM annotation_responsesource s
                 LEFT JOIN annotation_system y ON y.id = s.system_id WHERE s.response_id = r.id ORDER BY 1)
    FROM annotation_response r JOIN annotation_item i ON i.id = r.item_id
    WHERE r.id IN (SELECT ur.response_id FROM annotation_unitresponse ur JOIN annotation_unit u ON u.id = ur.unit_id
                   WHERE u.campaign_id = %(campaign)s
                   UNION SELECT standard_id FROM annotation_unit WHERE campaign_id = %(campaign)s)
    ORDER BY r.id
    """,
)

UNITS = Table(
    "units",
    "What one screen shows: one response, a pair, or a list of one item.",
    (
        Column("unit", "whole", "Position in the campaign's interleaved order, from 0."),
        ITEM,
        Column("label", "text", "The systems that it was planned for; raters never see it."),
        Column("systems", "texts", "Names of those systems."),
        Column("responses", "wholes", "The responses in canonical order, before any presentation shuffles it."),
        Column("standard", "whole", "Of magnitudes: the response that is the standard; else undefined."),
        Column("slots", "whole", "Places to fill: ratings wanted of the unit."),
        Column("done_slots", "whole", "Places filled now."),
        Column("stopped", "truth", "Handed out no more, because a system was stopped."),
    ),
    """
    SELECT u.position, i.external_id, u.label,
           ARRAY(SELECT y.name FROM annotation_system y WHERE y.id = ANY(u.systems) ORDER BY 1),
           ARRAY(SELECT ur.response_id FROM annotation_unitresponse ur WHERE ur.unit_id = u.id ORDER BY ur.number),
           u.standard_id, (SELECT count(*) FROM annotation_slot s WHERE s.unit_id = u.id), u.done_slots, u.stopped
    FROM annotation_unit u JOIN annotation_item i ON i.id = u.item_id
    WHERE u.campaign_id = %(campaign)s ORDER BY u.position
    """,
)

CHECK_UNITS = Table(
    "check_units",
    "Prepared screens that are no work: checks, training, the qualification test.",
    (
        CHECK,
        Column("kind", "text", "gold, attention, degraded, anchor, training or test."),
        Column("item", "text", "The item that it shows, where it is one of the data set; else undefined."),
        Column("context", "texts", "As shown."),
        Column("message", "text", "As shown."),
        Column("meaning_representation", "text", "As shown."),
        Column("texts", "json", "What is rated: text, role, response it was made from, accepted range per criterion."),
        Column("standard", "text", "Of magnitudes: the standard text."),
        Column("feedback", "text", "Shown after a training screen."),
    ),
    """
    SELECT c.kind || '-' || c.number, c.kind, i.external_id, c.context, c.message, c.meaning_representation, c.texts,
           c.standard, c.feedback
    FROM annotation_checkunit c LEFT JOIN annotation_item i ON i.id = c.item_id
    WHERE c.campaign_id = %(campaign)s ORDER BY c.kind, c.number
    """,
)

PRESENTATIONS = Table(
    "presentations",
    "Every screen in front of every rater, given back and lapsed ones included.",
    (
        Column("presentation", "whole", "Number of the presentation, unique within the installation."),
        RATER,
        Column("purpose", "text", "work, repeat, gold, attention, degraded, anchor, training or test."),
        Column("unit", "whole", "The unit shown; undefined for prepared screens."),
        Column("item", "text", "The item shown, where it is one of the data set."),
        CHECK,
        Column("repeats", "whole", "Of a repeat: the presentation that it repeats."),
        Column("slot", "whole", "The place of the unit that it was handed out for, from 0; undefined except for work."),
        Column("order_seed", "whole", "Seed that the order on screen was drawn from."),
        Column("order", "wholes", "order[p] is the canonical number of what stood at screen position p, from 0."),
        Column("shown_at", "time", "When it was handed out, by the database's clock, UTC."),
        Column("ended_at", "time", "When it was answered, given back or lapsed, UTC."),
        Column("seconds", "number", "From shown to ended, in seconds."),
        Column("outcome", "text", "shown, submitted, late, returned, lapsed, replaced or imported."),
        Column("source_row", "whole", "Of an imported judgement: its line in the file."),
    ),
    """
    SELECT p.id, r.pseudonym, p.purpose, u.position, i.external_id, c.kind || '-' || c.number, p.repeats_id, s.number,
           p.order_seed, p."order", p.shown_at, p.ended_at,
           coalesce(p.seconds_given, round(extract(epoch FROM p.ended_at - p.shown_at), 3)::float8), p.outcome,
           p.source_row
    FROM annotation_presentation p
    JOIN annotation_rater r ON r.id = p.rater_id
    LEFT JOIN annotation_unit u ON u.id = p.unit_id
    LEFT JOIN annotation_checkunit c ON c.id = p.check_unit_id
    LEFT JOIN annotation_item i ON i.id = COALESCE(u.item_id, c.item_id)
    LEFT JOIN annotation_slot s ON s.id = p.slot_id
    WHERE p.campaign_id = %(campaign)s ORDER BY p.id
    """,
)

RATINGS = Table(
    "ratings",
    "Every rating ever sent, corrections and late ones included. The latest revision of one that is not extra counts.",
    (
        Column("rating", "whole", "Number of the rating, unique within the installation; ratings are never changed."),
        PRESENTATION,
        Column("unit", "whole", "The unit shown."),
        ITEM,
        RESPONSE,
        Column("text", "text", "The text rated."),
        Column("systems", "text", "The systems that the unit was planned for."),
        Column("rated_as", "text", "Of imported judgements: the system under whose name it was made."),
        RATER,
        CRITERION,
        Column("value", "number", "In points of the criterion's scale; undefined where the rater could not judge."),
        Column("cannot_judge", "text", "The reason given for not judging; else empty."),
        Column("position", "whole", "Place of the response on screen, from 0; undefined if imported."),
        Column("revision", "whole", "0 at first; each correction is one more."),
        Column("extra", "truth", "Sent after its place had gone to somebody else: kept and paid, not counted."),
        Column("seconds", "number", "From shown to sent of its presentation, in seconds."),
        Column("sent_at", "time", "When it was sent, UTC."),
        Column("source_row", "whole", "Of an imported judgement: its line in the file."),
    ),
    """
    SELECT g.id, g.presentation_id, u.position, i.external_id, g.response_id, t.text, u.label, y.name, r.pseudonym,
           c.name, g.value, g.cannot_judge, g.position, g.revision, g.extra,
           coalesce(p.seconds_given, round(extract(epoch FROM p.ended_at - p.shown_at), 3)::float8), g.sent_at,
           p.source_row
    FROM annotation_rating g
    JOIN annotation_presentation p ON p.id = g.presentation_id
    JOIN annotation_unit u ON u.id = p.unit_id
    JOIN annotation_response t ON t.id = g.response_id
    JOIN annotation_item i ON i.id = t.item_id
    JOIN annotation_rater r ON r.id = g.rater_id
    JOIN annotation_criterion c ON c.id = g.criterion_id
    LEFT JOIN annotation_system y ON y.id = g.rated_as_id
    WHERE g.campaign_id = %(campaign)s ORDER BY g.id
    """,
)

CHECK_ANSWERS = Table(
    "check_answers",
    "Every answer to a screen that is no work. They are never among the ratings.",
    (
        Column("answer", "whole", "Number of the answer."),
        PRESENTATION,
        Column("purpose", "text", "repeat, gold, attention, degraded, anchor, training or test."),
        CHECK,
        RATER,
        CRITERION,
        Column("number", "whole", "Of the text in canonical order, from 0: in check_units.texts or units.responses."),
        Column("position", "whole", "Place of the text on screen, from 0."),
        Column("value", "number", "In points of the criterion's scale; undefined where the rater could not judge."),
        Column("cannot_judge", "text", "The reason given for not judging; else empty."),
        Column("revision", "whole", "0 at first; each correction is one more."),
        Column("sent_at", "time", "When it was sent, UTC."),
    ),
    """
    SELECT a.id, a.presentation_id, p.purpose, k.kind || '-' || k.number, r.pseudonym, c.name, a.number, a.position,
           a.value, a.cannot_judge, a.revision, a.sent_at
    FROM annotation_checkanswer a
    JOIN annotation_presentation p ON p.id = a.presentation_id
    JOIN annotation_rater r ON r.id = a.rater_id
    JOIN annotation_criterion c ON c.id = a.criterion_id
    LEFT JOIN annotation_checkunit k ON k.id = p.check_unit_id
    WHERE a.campaign_id = %(campaign)s ORDER BY a.id
    """,
)

COMMENTS = Table(
    "comments",
    "What raters wrote about screens; empty where a rater asked for erasure.",
    (
        Column("comment", "whole", "Number of the comment."),
        PRESENTATION,
        RATER,
        Column("text", "text", "As written."),
        Column("revision", "whole", "0 at first; each change is one more."),
        Column("sent_at", "time", "When it was sent, UTC."),
    ),
    """
    SELECT c.id, c.presentation_id, r.pseudonym, c.text, c.revision, c.sent_at
    FROM annotation_comment c JOIN annotation_rater r ON r.id = c.rater_id
    WHERE c.campaign_id = %(campaign)s ORDER BY c.id
    """,
)

RATERS = Table(
    "raters",
    "Everybody who took part.",
    (
        RATER,
        Column(
            "providers",
            "texts",
            f"Whose recruitments of this campaign sent the rater: {', '.join(PROVIDER_KEYS)}; or none.",
        ),
        Column("order_seed", "whole", "The rater's own order over the units follows from it."),
        Column("joined_at", "time", "First came, UTC."),
        Column("consented_at", "time", "Agreed to take part, UTC."),
        Column("stage", "text", "training, test, work or failed (did not qualify)."),
        Column("attempt", "whole", "Tries at the qualification test."),
        Column("qualified_at", "time", "Passed it, UTC."),
        Column("finished_at", "time", "Finished, UTC."),
        Column("excluded_at", "time", "Excluded since, UTC; why stands in decisions. The ratings stay in the log."),
        Column("flagged_at", "time", "Flagged since, UTC."),
    ),
    """
    SELECT r.pseudonym,
           ARRAY(SELECT DISTINCT q.provider FROM annotation_submission b
                 JOIN annotation_recruitment q ON q.id = b.recruitment_id
                 WHERE b.rater_id = r.id AND q.campaign_id = %(campaign)s ORDER BY 1),
           a.order_seed, a.joined_at, a.consented_at, a.stage, a.attempt, a.qualified_at, a.finished_at, a.excluded_at,
           a.flagged_at
    FROM annotation_rater r
    LEFT JOIN annotation_participation a ON a.rater_id = r.id AND a.campaign_id = %(campaign)s
    WHERE a.id IS NOT NULL
       OR r.id IN (SELECT rater_id FROM annotation_presentation WHERE campaign_id = %(campaign)s)
    ORDER BY r.id
    """,
)

DECISIONS = Table(
    "decisions",
    "Raters excluded, flagged or taken back in, each with its reason. The last one of a rater holds.",
    (
        Column("decision", "whole", "Number of the decision."),
        RATER,
        Column("action", "text", "exclude, include, flag or unflag."),
        Column("reason", "text", "As recorded."),
        Column("rules_version", "whole", "The version of the rules that struck; undefined where a person decided."),
        Column("evidence", "json", "What the rule saw."),
        Column("reopened_slots", "whole", "Places opened again for other raters."),
        Column("by_a_person", "truth", "Somebody with an account decided."),
        Column("decided_at", "time", "UTC."),
    ),
    """
    SELECT d.id, r.pseudonym, d.action, d.reason, q.version, d.evidence, d.reopened_slots, d.decided_by_id IS NOT NULL,
           d.decided_at
    FROM annotation_raterdecision d
    JOIN annotation_rater r ON r.id = d.rater_id
    LEFT JOIN annotation_qualityrules q ON q.id = d.rules_id
    WHERE d.campaign_id = %(campaign)s ORDER BY d.id
    """,
)

RULES = Table(
    "rules",
    "Every version of the rules about raters.",
    (
        Column("version", "whole", "From 1."),
        Column("rules", "json", "As annotation.weighting.exclusion reads them."),
        Column("before_launch", "truth", "Registered before any rating could be known."),
        Column("created_at", "time", "UTC."),
    ),
    """
    SELECT version, rules, before_launch, created_at FROM annotation_qualityrules
    WHERE campaign_id = %(campaign)s ORDER BY version
    """,
)

AMENDMENTS = Table(
    "amendments",
    "Changes beyond the frozen design, made while the campaign was running.",
    (
        Column("number", "whole", "From 1."),
        Column("kind", "text", "extend, stop_system, resume_system or add_items."),
        Column("data", "json", "What was changed."),
        Column("hash", "text", "SHA-256 over the hash before it (of the first: the design's) and this amendment."),
        Column("made_at", "time", "UTC."),
    ),
    """
    SELECT number, kind, data, hash, made_at FROM annotation_amendment
    WHERE campaign_id = %(campaign)s ORDER BY number
    """,
)

SUBMISSIONS = Table(
    "submissions",
    "Raters' stays at a provider and what they were paid, in the currency of the campaign; providers' ids left out.",
    (
        RATER,
        Column("provider", "text", f"{' or '.join(PROVIDER_KEYS)}."),
        Column("recruitment", "text", "Name of the recruitment."),
        Column("status", "text", "active, awaiting, approved, rejected, returned, timed_out or screened_out."),
        Column("outcome", "text", "As the campaign saw it."),
        Column("started_at", "time", "UTC."),
        Column("ended_at", "time", "UTC."),
        Column("paid", "number", "Reward paid; undefined where the provider has not said."),
        Column("bonus", "number", "Bonus paid."),
    ),
    """
    SELECT r.pseudonym, q.provider, q.name, b.status, b.outcome, b.started_at, b.ended_at, b.paid::float8,
           b.bonus::float8
    FROM annotation_submission b
    JOIN annotation_recruitment q ON q.id = b.recruitment_id
    LEFT JOIN annotation_rater r ON r.id = b.rater_id
    WHERE q.campaign_id = %(campaign)s ORDER BY b.id
    """,
)

AUDIT = Table(
    "audit",
    "Who did what, when. People with accounts appear as person-<number>, known to the installation alone.",
    (
        Column("entry", "whole", "Number of the entry."),
        Column("at", "time", "UTC."),
        Column("actor", "text", "person-<number>, rater or system."),
        Column("rater", "text", "Pseudonym of the rater concerned; else undefined."),
        Column("verb", "text", "Such as campaign.launch."),
        Column("summary", "text", "The sentence that the audit page shows; providers' ids blanked."),
        Column("data", "json", "Details; providers' ids blanked."),
    ),
    """
    SELECT e.id, e.at,
           CASE WHEN e.actor_id IS NOT NULL THEN 'person-' || e.actor_id
                WHEN e.rater_id IS NOT NULL THEN 'rater' ELSE 'system' END,
           r.pseudonym, e.verb, e.summary, e.data
    FROM annotation_auditentry e LEFT JOIN annotation_rater r ON r.id = e.rater_id
    WHERE e.campaign_id = %(campaign)s ORDER BY e.id
    """,
)

ALL = (
    ITEMS,
    RESPONSES,
    UNITS,
    CHECK_UNITS,
    PRESENTATIONS,
    RATINGS,
    CHECK_ANSWERS,
    COMMENTS,
    RATERS,
    DECISIONS,
    RULES,
    AMENDMENTS,
    SUBMISSIONS,
    AUDIT,
)
TABLES = {table.name: table for table in ALL}
