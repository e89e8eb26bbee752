"""Who we say we are: the headers that every request to a provider carries."""

import importlib.metadata
import platform

from actors.law.parts.prompt import Asker

USER_AGENT = (
    f"promptcorner/{importlib.metadata.version('promptcorner')}"
    f" ({platform.system().lower()}/{platform.machine()})"
)


def identity(asker: Asker | None) -> tuple[tuple[str, str], ...]:
    """Our name, and for whom we ask, as far as that is known."""
    headers = [("User-Agent", USER_AGENT)]
    if asker is not None:
        headers.append(("X-Promptcorner-Owner-Id", str(asker.owner)))
        headers.append(("X-Promptcorner-Chat-Id", str(asker.chat)))
        if asker.subchat is not None:
            headers.append(("X-Promptcorner-Subchat-Id", str(asker.subchat)))
    return tuple(headers)
