"""The identity sources of plugins, asked whose a request without a token is."""

from collections.abc import Collection, Sequence
from functools import partial
from types import MappingProxyType

from adapters.http.endpoints import SCOPES
from adapters.http.origins import Network, is_trusted
from adapters.http.refusals import HttpError
from adapters.http.requests import HttpRequest
from adapters.people.auth.callers import IdentifiedUser, Identify
from adapters.plugins.calls import PluginFault
from adapters.plugins.loop import PluginLoop
from adapters.plugins.plugins import Plugins
from promptcorner.ext import Identity, IdentityRequest, IdentitySource
from runtime.scope import CausedScope

IDENTIFY_SECONDS = 5.0  # for one source to answer; then the request is refused with 503
RETRY_SECONDS = 1
USERNAME_CHARACTERS_MAX = 256


def identify_by(plugins: Plugins, trusted: Collection[Network]) -> Identify | None:
    """Return what asks the sources of all plugins, or None if they have none."""
    sources = [(plugin.loop, source) for plugin in plugins for source in plugin.parts.sources]
    return _Sources(sources, trusted).identify if sources else None


class _Sources:
    def __init__(
        self,
        sources: Sequence[tuple[PluginLoop, IdentitySource]],
        trusted: Collection[Network],
    ) -> None:
        self._sources = sources
        self._trusted = trusted

    async def identify(self, request: HttpRequest) -> IdentifiedUser | None:
        """Return what the first source says that knows whose the request is.

        A source that fails is not passed over: the next one might take the request for another
        user's.
        """
        peer = request.client.host
        asked = IdentityRequest(
            request.method,
            "/" + "/".join(request.segments),
            MappingProxyType(dict(request.headers)),
            peer,
            is_from_trusted_proxy=is_trusted(peer, self._trusted),
        )
        for loop, source in self._sources:
            found = await self._ask(loop, source, asked)
            if found is not None:
                return IdentifiedUser(found.username, frozenset(found.scopes))
        return None

    async def _ask(
        self, loop: PluginLoop, source: IdentitySource, asked: IdentityRequest
    ) -> Identity | None:
        error: Exception = PluginFault(f"it did not answer within {IDENTIFY_SECONDS:g} s")
        try:
            with CausedScope(seconds=IDENTIFY_SECONDS):
                found: Identity | None = await loop.call(partial(_checked, source, asked))
                return found
        except Exception as raised:  # noqa: BLE001  the plugin's own code raised it
            error = raised
        loop.note_failure(error, path=asked.path)
        raise HttpError(
            503,
            "It could not be found out who asks.",
            detail=f"the identity source of the plugin {loop.name} failed; show a token instead",
            headers=(("retry-after", str(RETRY_SECONDS)),),
        )


async def _checked(source: IdentitySource, asked: IdentityRequest) -> Identity | None:
    """Ask a source in its plugin's loop. An answer that is none is a fault."""
    found = await source.identify(asked)
    if found is None:
        return None
    if not isinstance(found, Identity):
        raise PluginFault(f"it said a {type(found).__name__}, must be an Identity or None")
    name = found.username
    if not (isinstance(name, str) and 0 < len(name) <= USERNAME_CHARACTERS_MAX):
        raise PluginFault(f"it said {name!r:.100}, which is no name of a user")
    if not (isinstance(found.scopes, list | tuple) and set(found.scopes) <= set(SCOPES)):
        raise PluginFault(f"its scopes are {found.scopes!r:.100}, there are {', '.join(SCOPES)}")
    return found
