"""What a model is asked for a summary, and what the next one is told with it. Pure."""

from dataclasses import replace

from actors.parts.assemble import Answer
from actors.parts.model import TextPart
from actors.parts.prompt import Prompt, UserSaid

HANDED_OVER = (
    "The conversation so far has been summarised to make room. What follows is that summary; the"
    " assistant was in the middle of the work. Go on from here as if nothing had happened, without"
    " mentioning the summary."
)

INSTRUCTIONS = """\
Stop here and write a summary of this conversation. It will take the place of everything above: \
another assistant, who has seen nothing but your summary, goes on with the work at once. Do not \
call tools, do not answer the user; write the summary and nothing else.

Keep, in this order:

1. What the user demanded: constraints, corrections, prohibitions and preferences, in his own \
words as far as possible. They hold until he takes them back. List only what the user said \
himself, not what stands in system prompts or in files of a repository; if you are not sure where \
a demand comes from, say so.
2. The goal of the whole, and the task at hand.
3. Decisions that were taken, each with its reason.
4. Facts: paths, names of functions and variables, commands, interfaces, settings, versions, ids.
5. Errors: in which file or command, what went wrong, and what put it right. A tool that failed \
once is not a tool to be avoided.
6. The state of things: what is done, what is under way, what is left to do.
7. What was being done at this very moment, precisely enough to go on with the next action.

Be dense and exact. Refer to what can be read again (files, output of commands) instead of copying \
it. Leave out politeness, and all that no longer matters.\
"""


def asking_for_summary(prompt: Prompt) -> Prompt:
    """The same prompt, so that what a provider has kept of it is used; and the question at its end.
    No tool may be called, and the length of the answer is the model's own affair."""
    return replace(
        prompt,
        messages=(*prompt.messages, UserSaid((TextPart(INSTRUCTIONS),))),
        tool_choice="none",
        settings=replace(prompt.settings, max_output_tokens=None),
    )


def summary_in(answer: Answer) -> str:
    """Empty: there is none."""
    texts = (part.text.strip() for part in answer.parts if isinstance(part, TextPart))
    return " ".join(text for text in texts if text)
