"""Where OpenAI's two interfaces are found behind a base URL, and how a key is shown there. Pure."""

from urllib.parse import urlsplit

_AZURE_HOSTS = (".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com")
_AZURE_PATH = "/openai/v1"  # where Azure speaks as OpenAI does, without versions and deployments


def target_of(base_url: str, path: str) -> str:
    """The target of a request. A query of the base URL stays: Azure's `api-version` stands there.

    A bare Azure resource is completed; a path below it, a deployment for example, is kept.
    """
    parts = urlsplit(base_url)
    base = parts.path.rstrip("/")
    if (parts.hostname or "").endswith(_AZURE_HOSTS) and base in ("", "/openai"):
        base = _AZURE_PATH
    return f"{base}{path}?{parts.query}" if parts.query else f"{base}{path}"


def key_headers(key: str, header: str) -> tuple[tuple[str, str], ...]:
    """Return the header that shows a key; none without a key, which a server may not want."""
    if not key:
        return ()
    return ((header, f"Bearer {key}" if header == "Authorization" else key),)
