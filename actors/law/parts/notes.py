"""What a provider noted on a part for its own later use. Pure.

Each family of providers has a key of its own in the metadata, so that nobody reads the notes of
another, and a chat that comes back to a provider finds them again.
"""

from actors.law.parts.json_text import parsed
from actors.law.parts.model import JsonText

ANTHROPIC = "anthropic"  # signature, redacted_data, citations, web_search


def notes_of(metadata: JsonText | None, family: str) -> dict[str, object]:
    """Empty if that family noted nothing, or nothing that can be read."""
    if not metadata:
        return {}
    try:
        found = parsed(metadata)
    except ValueError:
        return {}
    ours = found.get(family) if isinstance(found, dict) else None
    return ours if isinstance(ours, dict) else {}
