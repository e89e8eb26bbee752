"""Who speaks Chat Completions, and how their dialects differ. Data, and one look-up.

The wire is the same everywhere; what differs is listed here and read by the translation, so that
nothing else asks who is at the other end.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Dialect:
    provider: str  # as failures name it
    base_url: str | None = None  # None: the configuration has to say
    azure: bool = False  # shows its key in a header of its own
    # Under which name a model's earlier thoughts are sent back to it, if at all.
    thoughts: Literal["reasoning_content", "reasoning_details"] | None = None
    effort: Literal["reasoning_effort", "reasoning"] = "reasoning_effort"
    # How an answer of a schema is asked for: not every server knows `response_format`, but every
    # one that has tools can be made to call one.
    answers_by_tool: bool = False
    takes_top_k: bool = True  # which is not OpenAI's own
    counts_cost: bool = False  # wants `usage.include` to count all of its tokens
    marks_cache: bool = False  # passes cache marks on to Anthropic's models
    gemini: bool = False  # Gemini behind Google's own imitation of this interface


OPENAI = Dialect("openai", "https://api.openai.com/v1", takes_top_k=False)
AZURE = Dialect("azure", azure=True, takes_top_k=False)
OPENAI_COMPAT = Dialect("openai-compat", thoughts="reasoning_content", answers_by_tool=True)
OPENROUTER = Dialect(
    "openrouter",
    "https://openrouter.ai/api/v1",
    thoughts="reasoning_details",
    effort="reasoning",
    answers_by_tool=True,
    counts_cost=True,
    marks_cache=True,
)
VERCEL = Dialect(
    "vercel",
    "https://ai-gateway.vercel.sh/v1",
    thoughts="reasoning_details",
    effort="reasoning",
    answers_by_tool=True,
    marks_cache=True,
)

DIALECTS: Mapping[str, Dialect] = {
    dialect.provider: dialect for dialect in (OPENAI, AZURE, OPENAI_COMPAT, OPENROUTER, VERCEL)
}

# Compatible servers that are known to refuse what the others take or ignore.
_BY_HOST: tuple[tuple[str, Dialect], ...] = (
    ("generativelanguage.googleapis.com", replace(OPENAI_COMPAT, thoughts=None, gemini=True)),
    ("api.groq.com", replace(OPENAI_COMPAT, thoughts=None)),
    ("api.mistral.ai", replace(OPENAI_COMPAT, thoughts=None)),
    ("api.cerebras.ai", replace(OPENAI_COMPAT, thoughts=None)),
)


def dialect_of(provider: str, base_url: str) -> Dialect:
    """The dialect of a configured provider; an openai-compat one is known by its host."""
    dialect = DIALECTS[provider]
    if dialect is not OPENAI_COMPAT:
        return dialect
    host = urlsplit(base_url).hostname or ""
    return next((known for name, known in _BY_HOST if host == name), dialect)
