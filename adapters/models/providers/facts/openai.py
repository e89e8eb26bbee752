"""Facts about OpenAI's models, by name. Data and look-ups; no I/O.

The same models answer behind OpenAI, Azure and the gateways, so the facts stand here once. A name
may carry its vendor in front (`openai/gpt-5`).
"""

import json
import re

from actors.law.parts.message import JsonText
from actors.law.parts.prompt import Effort

_REASONING = re.compile(r"o[134](-|$)|gpt-oss|gpt-5|gpt-[6-9]|gpt-\d\d|codex-mini|computer-use")
_NOT_REASONING = re.compile(r"gpt-[5-9][\d.]*-chat")
_SAMPLED_WITHOUT_EFFORT = re.compile(r"gpt-5\.[1-9]|gpt-[6-9]|gpt-\d\d")  # newer than gpt-5
_RESPONSES = re.compile(
    r"gpt-(3\.5|4)|chatgpt-4o|gpt-([4-9]|[1-9]\d)([.-]|$)|o1|o3|o4-mini|codex-mini|gpt-oss-120b|"
    r"computer-use-preview"
)
_CHAT_ONLY = re.compile(r"search-preview|audio-preview|realtime")


def _bare(model: str) -> str:
    return model.rpartition("/")[2].lower()


def reasons(model: str) -> bool:
    """It thinks before it answers: it has an effort, and takes no plain `max_tokens`."""
    name = _bare(model)
    return _REASONING.match(name) is not None and _NOT_REASONING.match(name) is None


def samples(model: str, effort: Effort | None) -> bool:
    """It takes temperature, top_p, penalties, logit_bias and logprobs; others answer with 400."""
    if not reasons(model):
        return True
    return effort == "none" and _SAMPLED_WITHOUT_EFFORT.match(_bare(model)) is not None


def answers_on_responses(model: str) -> bool:
    """Which of OpenAI's two interfaces is used where the configuration does not say."""
    name = _bare(model)
    return _RESPONSES.match(name) is not None and _CHAT_ONLY.search(name) is None


def strict_schema(schema: JsonText) -> tuple[JsonText, bool]:
    """The schema as strict mode wants it, and whether it can be strict.

    Strict mode forbids further properties and takes no optional ones. A schema that has some is
    left as it is, for a call that is not strict.
    """
    value = json.loads(schema)
    if not _can_be_strict(value):
        return schema, False
    return JsonText(json.dumps(_closed(value), separators=(",", ":"))), True


def _can_be_strict(value: object) -> bool:
    if isinstance(value, list):
        return all(map(_can_be_strict, value))
    if not isinstance(value, dict):
        return True
    if isinstance(value.get("additionalProperties"), dict) or value.get("additionalProperties"):
        return False
    properties = value.get("properties")
    if isinstance(properties, dict) and set(properties) - set(value.get("required") or ()):
        return False
    return all(map(_can_be_strict, value.values()))


def _closed(value: object) -> object:
    if isinstance(value, list):
        return [_closed(item) for item in value]
    if not isinstance(value, dict):
        return value
    closed = {key: _closed(item) for key, item in value.items()}
    return closed | {"additionalProperties": False} if closed.get("type") == "object" else closed
