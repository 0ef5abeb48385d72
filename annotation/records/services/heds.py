"""The questions of the Human Evaluation Datasheet 3.0, in short words of our own, by their numbers.

Belz & Thomson, HEDS 3.0: The Human Evaluation Data Sheet Version 3.0, Proceedings of GEM², 2025 (arXiv 2412.07940);
its form, with the authors' full wording and notes, is at https://nlp-heds.github.io. Options keep their numbers there.
"""

from dataclasses import dataclass
from typing import Literal

REFERENCE = (
    "Anya Belz and Craig Thomson. 2025. HEDS 3.0: The Human Evaluation Data Sheet Version 3.0. Proceedings of the "
    "Fourth Workshop on Generation, Evaluation and Metrics (GEM²), pages 60–81. arXiv:2412.07940."
)
FORM_URL = "https://nlp-heds.github.io"

Kind = Literal["text", "line", "one", "many"]

SECTIONS = {
    "1": "Main reference and supplementary resources",
    "2": "Evaluated systems",
    "3": "Sample, evaluators and experimental design",
    "4": "Quality criteria",
    "5": "Ethics",
}


@dataclass(frozen=True)
class Question:
    """``many`` takes any of ``options``, ``one`` takes one of them; both may be explained in words."""

    number: str
    asks: str
    kind: Kind = "text"
    options: tuple[str, ...] = ()
    hint: str = ""

    @property
    def section(self) -> str:
        return self.number[0]

    @property
    def per_criterion(self) -> bool:
        return self.section == "4"


YES_NO = ("Yes", "No", "Not applicable (explain)")
NO_YES = ("No", "Yes (explain how it was handled)")

QUESTIONS = (
    Question(
        "1.1.1",
        "Where is the experiment reported?",
        "one",
        (
            "In a published paper (give its address)",
            "In a report that is not published (give its address)",
            "Nowhere yet: this sheet is a preregistration (give its address)",
            "Nowhere, and no preregistration is planned",
        ),
    ),
    Question("1.1.2", "Which experiment of that report is this sheet about?", hint="Sections or tables that show it."),
    Question(
        "1.2",
        "Where are the resources used in the experiment?",
        "one",
        ("At these addresses", "None are shared"),
        hint="The complete record from this page can be one of them.",
    ),
    Question("1.3.1.1", "Who fills this sheet in: name", "line"),
    Question("1.3.1.2", "Who fills this sheet in: affiliation", "line"),
    Question("1.3.1.3", "Who fills this sheet in: e-mail address", "line"),
    Question("1.3.2.1", "Contact author: name", "line"),
    Question("1.3.2.2", "Contact author: affiliation", "line"),
    Question("1.3.2.3", "Contact author: e-mail address", "line"),
    Question("2.1", "What do the evaluated systems take as input?", hint="For example data, a sentence, a dialogue."),
    Question("2.2", "What do they put out?", hint="For example a sentence, a document, one turn of a dialogue."),
    Question("2.3", "Which task do they perform?", hint="For example data to text, summarisation, dialogue."),
    Question("2.4", "In which languages is their input?", "line"),
    Question("2.5", "In which languages is their output?", "line"),
    Question("3.1.1", "How many outputs (or other items) are evaluated, of each system?"),
    Question(
        "3.1.2",
        "How were the evaluated outputs chosen?",
        "one",
        (
            "At random, by a program",
            "At random by a program, stratified by given properties",
            "By a program, not at random",
            "By hand, without particular criteria",
            "By hand, for balance or variety of given properties",
            "Otherwise (explain)",
        ),
    ),
    Question("3.1.3.1", "Power analysis: which method set the sample's size?", hint="‘N/A’ where there was none."),
    Question("3.1.3.2", "Power analysis: what is the power of the sample?"),
    Question("3.1.3.3", "Power analysis: where is its code?"),
    Question("3.2.1", "How many evaluators contributed to the results?", "line"),
    Question("3.2.2.1", "Are the evaluators experts of the domain?", "one", YES_NO),
    Question(
        "3.2.2.2",
        "Were they paid?",
        "one",
        ("In money", "In kind, such as course credits", "Not at all", "Not applicable (explain)"),
    ),
    Question("3.2.2.3", "Did the authors know any of them before?", "one", YES_NO),
    Question("3.2.2.4", "Are any of the authors among them?", "one", YES_NO),
    Question("3.2.3", "How were they recruited?"),
    Question("3.2.4", "Which training or practice came before the evaluation?"),
    Question("3.2.5", "What else is known of the evaluators?", hint="Age, gender, place, education; numbers of each."),
    Question("3.3.1", "Was the design preregistered?", "one", ("Yes (give the address)", "No")),
    Question("3.3.2", "Through which medium were responses collected?"),
    Question(
        "3.3.3.1",
        "Which kinds of quality assurance were used?",
        "many",
        (
            "Evaluators had to be native speakers",
            "Automatic checks during or after the evaluation",
            "Checks by hand during or after the evaluation",
            "Evaluators who failed checks were excluded",
            "Some evaluations were excluded because of failed checks",
            "Others (explain)",
            "None of these",
        ),
    ),
    Question("3.3.3.2", "What exactly was done for each of them?"),
    Question("3.3.4.1", "Where can the evaluators' screens be seen?", hint="A link to screenshots."),
    Question("3.3.4.2", "What is shown to evaluators while they evaluate?"),
    Question(
        "3.3.5",
        "What limits when, and how fast, evaluators work?",
        "many",
        (
            "They must work at a given time",
            "Each assessment has a time limit",
            "The whole evaluation has a time limit",
            "The whole evaluation must be done in one sitting",
            "None of these (explain)",
        ),
    ),
    Question(
        "3.3.6",
        "Could evaluators ask questions or give feedback?",
        "many",
        (
            "They could ask before or while evaluating",
            "They were told that they could ask while evaluating",
            "They could give feedback on it",
            "Otherwise (explain)",
            "None of these",
        ),
    ),
    Question(
        "3.3.7",
        "Under which conditions did they evaluate?",
        "one",
        (
            "At a place of their own choice",
            "In a laboratory, conditions the same for all",
            "In a laboratory, conditions not controlled",
            "In real life, conditions the same for all",
            "In real life, conditions not controlled",
            "In a situation made to resemble real life, conditions the same for all",
            "In a situation made to resemble real life, conditions not controlled",
            "Otherwise (explain)",
        ),
    ),
    Question("3.3.8", "What else is there to say of these conditions?"),
    Question("4.1.1", "Which type of quality is assessed?", "one", ("Correctness", "Goodness", "A feature")),
    Question("4.1.2", "Which aspect of the outputs is assessed?", "one", ("Form", "Content", "Both")),
    Question(
        "4.1.3",
        "Against what is an output assessed?",
        "one",
        ("In its own right", "Relative to the input", "Relative to something outside input and output"),
    ),
    Question("4.2.1", "Is the assessment objective or subjective?", "one", ("Objective", "Subjective")),
    Question("4.2.2", "Are outputs assessed absolutely or relative to others?", "one", ("Absolutely", "Relatively")),
    Question("4.2.3", "Is the evaluation intrinsic or extrinsic?", "one", ("Intrinsic", "Extrinsic")),
    Question("4.3.1.1", "What is the criterion called before evaluators?", "line"),
    Question("4.3.1.2", "Which standardised name corresponds to it?", "line", hint="For example of the QCET taxonomy."),
    Question("4.3.2", "Which definition is given to evaluators?"),
    Question("4.3.3", "How many values does the scale have?", "line"),
    Question("4.3.4", "Which values are possible?", "line"),
    Question(
        "4.3.5",
        "How is the scale presented?",
        "one",
        (
            "As options of which one is chosen",
            "As check boxes",
            "As a slider",
            "There is no rating instrument",
            "Otherwise (explain)",
        ),
    ),
    Question("4.3.6", "Without a rating instrument: what do evaluators do?"),
    Question("4.3.7", "What exactly are evaluators asked at each assessment?"),
    Question(
        "4.3.8",
        "In which form are responses elicited?",
        "one",
        (
            "Agreement with a statement about quality",
            "Direct estimation of quality",
            "Relative estimation of quality, ranking included",
            "Counting occurrences",
            "Feedback in words",
            "Post-editing or annotation",
            "Classification or labelling",
            "Measurements of evaluators interacting with the text",
            "Measurements of performance in a task",
            "Measurements of evaluators interacting with the system",
            "Otherwise (explain)",
        ),
    ),
    Question("4.3.9", "How do raw responses become reported scores?"),
    Question("4.3.10", "How are effect sizes and significance determined?", hint="‘None’ where they are not."),
    Question("4.3.11.1", "How is agreement between evaluators measured?"),
    Question("4.3.11.2", "What is it?"),
    Question("4.3.12.1", "How is the agreement of evaluators with themselves measured?"),
    Question("4.3.12.2", "What is it?"),
    Question("5.1", "Which ethics committee approved the experiment?", hint="Or ‘No ethical approval obtained’."),
    Question("5.2", "Do outputs or responses hold personal data (GDPR, Article 4)?", "one", NO_YES),
    Question("5.3", "Do they hold data of special categories (GDPR, Article 9)?", "one", NO_YES),
    Question("5.4", "Were impact assessments carried out?", hint="Or ‘No impact assessment carried out’."),
)
BY_NUMBER = {question.number: question for question in QUESTIONS}
