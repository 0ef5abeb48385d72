"""What a field of a file can mean in a data set, and the names that such fields go by: the registry."""

from dataclasses import dataclass

# Kinds of values, by which a field can or cannot have a meaning; see ``values.kind_of``.
TEXT, NUMBER, TEXTS, OBJECTS, OBJECT, NOTHING, OTHER = (
    "text",
    "number",
    "texts",
    "objects",
    "object",
    "nothing",
    "other",
)

ID, CONTEXT, DIALOGUE, MESSAGE, SPLIT = "id", "context", "dialogue", "message", "split"
REPRESENTATION = "meaning_representation"
ORIGINAL, REFERENCES, OUTPUTS, OUTPUT = "original", "references", "outputs", "output"
SYSTEM, RESPONSE, IGNORE = "system", "text", "ignore"
OF_RESPONSE = ("kind", "rank", "score", "source_context", "source_message")


@dataclass(frozen=True)
class Meaning:
    """``names`` are what fields of this meaning are called, apart from ``key``; the most usual first."""

    key: str
    label: str
    about: str
    names: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset({TEXT})
    many: bool = False  # several fields of a file may have it


def _meaning(key: str, label: str, about: str, names: str = "", kinds: str = TEXT, *, many: bool = False) -> Meaning:
    return Meaning(key, label, about, tuple(names.split()), frozenset(kinds.split()), many)


MEANINGS = {
    meaning.key: meaning
    for meaning in (
        _meaning(
            ID,
            "Id of the item",
            "A text or whole number, once for each item. Without one, items are numbered: each row; of rows that are"
            " responses, those with the same message, context and meaning representation together.",
            "item_id example_id instance_id sample_id segment_id dialogue_id question_id doc_id qid uid guid idx index",
            "text number",
        ),
        _meaning(
            MESSAGE,
            "Message",
            "The text to answer, continue, translate or summarise.",
            "source prompt question input query instruction utterance src user_message post document article sentence",
        ),
        _meaning(
            DIALOGUE,
            "Context and message",
            "A conversation, as a list of turns: the last is the message, earlier ones are the context. A last turn of"
            " an assistant is the original response.",
            "dialog conversation conversations messages turns utterances chat",
            "text texts objects",
        ),
        _meaning(
            CONTEXT,
            "Context",
            "Earlier turns, the oldest first.",
            "history dialogue_history dialog_history conversation_history chat_history previous_turns passage",
            "text texts objects",
        ),
        _meaning(
            REPRESENTATION,
            "Meaning representation",
            "What a text is to be made of, for data-to-text.",
            "mr representation triples tripleset modifiedtripleset triple_set rdf linearized_input",
            "text texts",
        ),
        _meaning(
            ORIGINAL,
            "Original response",
            "The response that was given in the conversation: a reference of the kind seed.",
            "response original_response gold_response true_response next_turn reply label_response",
        ),
        _meaning(
            REFERENCES,
            "References",
            "A text, or a list of texts. Several fields can be references.",
            "reference ref refs target targets answer answers gold gold_standard human_reference"
            " summary highlights expected expected_output ideal correct_answer",
            "text texts objects",
            many=True,
        ),
        _meaning(
            OUTPUT,
            "Output of a system",
            "The text or dialogue of one system, in a field of its own.",
            "prediction hypothesis model_output system_output generated generated_text generation pred hyp candidate"
            " completion model_response",
            "text objects",
            many=True,
        ),
        _meaning(
            OUTPUTS,
            "Outputs of systems",
            "An object: name of a system, its text or dialogue.",
            "system_outputs model_outputs predictions hypotheses generations candidates systems models responses",
            "object",
        ),
        _meaning(
            SYSTEM,
            "Name of the system",
            "Whose output the row is, if each row is one response.",
            "model system_name model_name system_id model_id sys generator",
        ),
        _meaning(
            RESPONSE,
            "Response of the row",
            "The text, or the list of a dialogue's turns, if each row is one response.",
            "response_text output_text",
            "text objects",
        ),
        _meaning(SPLIT, "Split", "For example test.", "subset partition fold"),
        _meaning("kind", "Kind of reference", "seed, mined, parrot, human or random."),
        _meaning("rank", "Rank of the reference", "A whole number.", kinds="text number"),
        _meaning("score", "Score of the reference", "A number.", kinds="text number"),
        _meaning("source_context", "Context of the reference", "Where a mined reference is from.", "", "text texts"),
        _meaning("source_message", "Message of the reference", "Where a mined reference is from."),
        _meaning(
            IGNORE,
            "Left out",
            "Not imported.",
            kinds="text number texts objects object nothing other",
            many=True,
        ),
    )
}
OTHERS = "*"  # in a mapping: all fields that it does not name
SYNONYMS = {key: meaning.names for key, meaning in MEANINGS.items()}
