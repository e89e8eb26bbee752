"""Facts about the models at AWS Bedrock, by the names and profiles that they have there. No I/O.

A name is `maker.model`, with a geography before it where it is a profile (`us.meta.llama4-…`), or
an ARN that ends with such a name, or with an id of the account's own.
"""

import re
from typing import Literal

from actors.law.parts.prompt import Effort

_CLAUDE = re.compile(r"anthropic|claude", re.IGNORECASE)
_NOVA = re.compile(r"(^|[./])amazon\.nova")
_NOVA_2 = re.compile(r"(^|[./])amazon\.nova-2")
_MISTRAL = re.compile(r"(^|[./])mistral\.")
_GPT_OSS = re.compile(r"(^|[./])openai\.gpt-oss")
_GPT = re.compile(r"(^|[./])openai\.gpt-")
_KIMI = re.compile(r"(^|[./])moonshot(ai)?\.kimi")
# Makers whose models take a message of either words or calls, and refuse one with both.
_WORDS_OR_CALLS = re.compile(r"(^|[./])(ai21|cohere|meta|mistral)\.")
# ARNs of models that are an account's own, and never Anthropic's.
_OWN_MODEL = re.compile(r":(imported-model|custom-model|custom-model-deployment|endpoint)/")

_THREE_EFFORTS: dict[Effort, str] = {
    "none": "low",
    "minimal": "low",
    "xhigh": "high",
    "max": "high",
}  # the others go by their own names


def speaks_converse(model: str) -> bool:
    """Return whether a model is asked over Converse: it is not Anthropic's.

    An ARN whose id does not say whose model it is counts as Anthropic's.
    """
    if _CLAUDE.search(model):
        return False
    if model.startswith("arn:"):
        return "." in model.rpartition("/")[2] or _OWN_MODEL.search(model) is not None
    return "." in model


def takes_media_of_tools(model: str) -> bool:
    """Return whether a model looks at the files in results of tools; others refuse them."""
    return _NOVA.search(model) is not None


def keeps_prompts(model: str) -> bool:
    """Return whether a model wants to be told where a prompt ends that is worth keeping."""
    return _NOVA.search(model) is not None


def takes_words_beside_calls(model: str) -> bool:
    return _WORDS_OR_CALLS.search(model) is None


def choice_of(model: str) -> Literal["tool", "any", "auto"]:
    """Return how far the choice of a tool can be forced: on one, on any of them, or not at all."""
    if _NOVA.search(model):
        return "tool"
    return "any" if _MISTRAL.search(model) else "auto"


def effort_fields(model: str, effort: Effort) -> dict[str, object]:
    """Return the fields of an effort, which each maker names in another way; none where unknown."""
    if _NOVA_2.search(model):
        if effort == "none":
            return {"reasoningConfig": {"type": "disabled"}}
        wanted = _THREE_EFFORTS.get(effort, effort)
        return {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": wanted}}
    if _GPT_OSS.search(model) or _KIMI.search(model):
        return {"reasoning_effort": _THREE_EFFORTS.get(effort, effort)}
    if _GPT.search(model):
        return {"reasoning": {"effort": "low" if effort == "minimal" else effort}}
    return {}


def samples_at(model: str, effort: Effort | None) -> bool:
    """Return whether a model takes a cap and sampling beside this effort.

    Nova 2 refuses both at its highest effort.
    """
    highest = effort is not None and _THREE_EFFORTS.get(effort, effort) == "high"
    return not (highest and _NOVA_2.search(model))


def top_k_fields(model: str, top_k: int) -> dict[str, object]:
    """Return the field of top_k, which Converse itself has none for; none where unknown."""
    if _NOVA.search(model):
        return {"inferenceConfig": {"topK": top_k}}
    return {"top_k": top_k} if _MISTRAL.search(model) else {}
