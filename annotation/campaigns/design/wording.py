"""What raters read in the campaigns that start from a template. Square brackets are for the manager to fill in."""

SIX = ["Very poor", "Poor", "Rather poor", "Rather good", "Good", "Very good"]

_STUDY = {
    "outputs": "how well computers write",
    "references": "what makes a text a good answer",
}
_ORIGIN = {
    "outputs": "The texts come from the internet and from computer programs, which were not corrected",
    "references": "The texts were written by people, many of them on the internet, and were not corrected",
}


def consent(target: str) -> str:
    """Return a consent text for a campaign that rates outputs or references."""
    return f"""\
**What this is.** You are asked to take part in a study of {_STUDY[target]}. You read short conversations \
or texts and rate them. It is run by [your institution]; questions go to [your name and e-mail address].

**What you do.** You answer one screen after another. You may stop whenever you like, and need not say why.

**What is kept.** Your answers, how long each took, and the name or nickname that you enter, or a \
made-up one. If you came through a recruitment service, its id for you is kept apart from your \
answers, for payment only, and can be erased on request. The answers, without that id, may be published for research.

**Risks.** {_ORIGIN[target]}: some may be \
rude, wrong or unpleasant. Skip a screen whenever you like.

**Your rights.** Taking part is voluntary. You are 18 or older. You may ask for what is kept about you, and for \
it to be erased, at the address above. [Approved by your ethics board under the number …]
"""


CHECKS_LINE = "- A few screens help us to see whether the task is clear. They look like all others."

_GOOD_TO_KNOW = """\
## Good to know

- There is no hidden right answer: we want your own first judgement.
- Use the whole scale. If nothing is ever very good or very bad, we learn little.
"""

_WITH_CHECKS = f"""\
## Good to know

- There is no hidden right answer to most screens: we want your own first judgement.
{CHECKS_LINE}
- Use the whole scale. If nothing is ever very good or very bad, we learn little.
"""

QUALITY_OF_A_REPLY = f"""\
You see a short conversation and **one possible reply** to its last message. Rate how good the reply is.

## The scale

| Points | Name | When |
| --- | --- | --- |
| **5** | Very good | Just what a person could have answered here: it fits what was said, and says something. |
| **4** | Good | Fits well; perhaps a little short, bland or clumsy. |
| **3** | Acceptable | Possible, but vague, or only half to the point. |
| **2** | Bad | Hardly fits, or is hard to understand. |
| **1** | Very bad | Makes no sense here, or is no sentence at all. |

## What to look at

- **Does it fit?** Read the whole conversation, not only the last message.
- **Would a person say it?** Slang, typing errors and emoticons are fine, as long as people write so.
- **Do not mind** whether you agree with it, like it, or find it polite.

{_GOOD_TO_KNOW}"""

RELEVANCE_IN_PAIRS = f"""\
You see a short conversation and **two possible replies** to its last message, A and B. Rate how relevant *each* \
of them is.

## The scale

| Points | Name | When |
| --- | --- | --- |
| **5** | Fully | Answers this message in this conversation, and hardly any other. |
| **4** | Mostly | Clearly about it, with something missing or beside the point. |
| **3** | Somewhat | Could be said here, but also nearly anywhere: “I see”, “Sounds good”. |
| **2** | Hardly | Only a word or two in common with what was said. |
| **1** | Not at all | About something else, or makes no sense. |

## What to look at

- Judge each reply **by itself**. Both may be good, both may be bad, both may get the same number.
- Context *and* message count: a reply that fits the last line but contradicts the lines before is not fully \
relevant.
- Which one comes first is drawn by lot and means nothing.
- Small mistakes of spelling do not matter here, as long as you understand the reply.

{_GOOD_TO_KNOW}"""

LIST_OF_REPLIES = f"""\
You see a conversation and **a list of possible replies** to its last message. Read them all, then rate each.

## The scale

| Points | Name | When |
| --- | --- | --- |
| **5** | Very good | Natural, to the point, and it helps. |
| **4** | Good | Fits, with a small weakness. |
| **3** | Acceptable | Not wrong, but it says little. |
| **2** | Poor | Unnatural, or it misses the point. |
| **1** | Very poor | Cannot be understood, or has nothing to do with the conversation. |

Three things count together: is the reply **natural** (as a person would write it), **informative** (it says \
something of use) and **appropriate** (right for this conversation and in tone)?

- Look through the list before you begin, so that your numbers mean the same from the first reply to the last.
- Two replies may get the same number. It is no ranking.
- Your answers are saved while you go: you can take a break in the middle of a list.

{_GOOD_TO_KNOW}"""

MEANING_IN_PAIRS = f"""\
At the top you see **what was to be said**: a few facts, such as a name, a place or a price. Below are **two \
texts**, A and B, that try to say it. Rate each of them on three questions.

## The three questions

- **Content.** Compare with the facts, one by one. Is one missing? Is one wrong, or made up? A clumsy text that \
says everything is good *here*.
- **Naturalness.** Now forget the facts. Could a native speaker have written it? A smooth text about the wrong \
place is good *here*.
- **Quality.** All in all: would you be glad to read this?

## The scale

| Points | Name | When |
| --- | --- | --- |
| **6** | Very good | Nothing could be better. |
| **5** | Good | A small weakness. |
| **4** | Rather good | More is right than wrong. |
| **3** | Rather poor | More is wrong than right. |
| **2** | Poor | Little is right. |
| **1** | Very poor | Nothing is right. |

## Good to keep in mind

- Keep the three questions apart: a text may have 6 for one and 1 for another.
- Which text comes first is drawn by lot and means nothing.

{_GOOD_TO_KNOW}"""

MAGNITUDES = f"""\
You see **what was to be said**, a **standard text** that says it, and several other texts. The standard counts \
as **100**. Give every other text a number that says how good it is *in comparison*.

## The scale

| Points | Name |
| --- | --- |
| **200** | Twice as good as the standard |
| **100** | As good as the standard |
| **50** | Half as good |

Any number above 0 will do, also a fraction. There is no upper end.

## What to look at

Does the text say what was to be said, all of it and nothing else? Is it easy and pleasant to read? Would a \
person have written it?

- Read all texts first. Begin with the best or the worst, then place the others between.
- Texts that are equally good get equal numbers.
- Keep to the standard: what 100 means should not change from the first screen to the last.

{_GOOD_TO_KNOW}"""

SLIDER = f"""\
You see what was said or is to be said, and **one text** for it. Move the slider to say how far you agree that \
*the text fits*.

## The scale

| Points | Name | When |
| --- | --- | --- |
| **100** | Perfectly | Far right: you could not wish for a better text. |
| **0** | Not at all | Far left: it has nothing to do with the item above it, or cannot be understood. |

Anything between is yours to decide. Trust your first feeling: the exact number matters less than that you use \
the slider in the same way throughout.

The slider has no position before you move it. You can also type a number, or use the arrow keys.

## What to look at

- Judge every screen by itself, also if a text reminds you of one before.
- Small mistakes cost a little, a text that says the wrong thing costs a lot.

{_WITH_CHECKS}"""
