"""Facts about OpenAI's models, by name, and about its two interfaces. Data and look-ups; no I/O.

The same models answer behind OpenAI, Azure and the gateways, so the facts stand here once. A name
may carry its vendor in front (`openai/gpt-5`).
"""

import json
import re
from urllib.parse import urlsplit

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
# Bedrock writes a part of the world and the vendor before a name.
_VENDOR = re.compile(r"([a-z-]+\.)?openai\.")


def _bare(model: str) -> str:
    return model.rpartition("/")[2].lower()


def _family_name(model: str) -> str:
    """Return a name without its vendor, which stands before a slash or a dot."""
    return _VENDOR.sub("", _bare(model), count=1)


def reasons(model: str) -> bool:
    """Return whether a model thinks first: it has an effort, and takes no plain `max_tokens`."""
    name = _family_name(model)
    return _REASONING.match(name) is not None and _NOT_REASONING.match(name) is None


def samples(model: str, effort: Effort | None) -> bool:
    """Return whether a model takes temperature, top_p, penalties, logit_bias and logprobs.

    Others answer with 400.
    """
    if not reasons(model):
        return True
    return effort == "none" and _SAMPLED_WITHOUT_EFFORT.match(_family_name(model)) is not None


def is_openais_own(host: str) -> bool:
    """Return whether a host is OpenAI's or Azure's, and not of a server that speaks as they do."""
    return host == "api.openai.com" or host.endswith(_AZURE_HOSTS)


def answers_on_responses(model: str) -> bool:
    """Return whether a model is asked over Responses where the configuration does not say."""
    name = _bare(model)
    return _RESPONSES.match(name) is not None and _CHAT_ONLY.search(name) is None


def searches_over_chat(model: str) -> bool:
    """Return whether a model searches by itself over Chat Completions; others answer with 400."""
    return "search" in model


def strict_schema(schema: JsonText) -> tuple[JsonText, bool]:
    """Return a schema as strict mode wants it, and whether it can be strict.

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


_AZURE_HOSTS = (".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com")
_AZURE_PATH = "/openai/v1"  # where Azure speaks as OpenAI does, without versions and deployments


def target_of(base_url: str, path: str) -> str:
    """Return the target of a request.

    A query of the base URL stays: Azure's `api-version` stands there. A bare Azure resource is
    completed; a path below it, a deployment for example, is kept.
    """
    parts = urlsplit(base_url)
    base = parts.path.rstrip("/")
    if (parts.hostname or "").endswith(_AZURE_HOSTS) and base in ("", "/openai"):
        base = _AZURE_PATH
    return f"{base}{path}?{parts.query}" if parts.query else f"{base}{path}"


def is_deployment(base_url: str | None) -> bool:
    """Return whether an address is that of an Azure deployment, which has no Responses API."""
    return "/deployments/" in f"{urlsplit(base_url or '').path}/"


def key_headers(key: str, header: str) -> tuple[tuple[str, str], ...]:
    """Return the header that shows a key; none without a key, which a server may not want."""
    if not key:
        return ()
    return ((header, f"Bearer {key}" if header == "Authorization" else key),)
