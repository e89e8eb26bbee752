"""The kind of settings that names forges, and what a forge is. Pure."""

from dataclasses import dataclass
from typing import ClassVar, Literal
from urllib.parse import urlsplit

from adapters.settings.kinds import InvalidValue, WebAddress

ForgeKind = Literal["github", "gitlab"]
FORGE_KINDS: tuple[ForgeKind, ...] = ("github", "gitlab")
_PUBLIC_GITHUB = ("github.com", "https://api.github.com")


@dataclass(frozen=True, slots=True)
class Forge:
    """A host of repositories with pull requests: where it shows them, and where its API is."""

    kind: ForgeKind
    url: str  # without a slash at its end
    api: str  # likewise

    @property
    def host(self) -> str:
        """Return its name, with the port if it has one of its own. Tokens are kept by it."""
        return urlsplit(self.url).netloc.lower()


@dataclass(frozen=True, slots=True)
class Forges:
    """Forges, each with its kind, its address and perhaps that of its API, or `none`."""

    shape: ClassVar[str] = "KIND=URL,…"
    bounds: ClassVar[str] = "none, or KIND=URL or KIND=URL|API with commas between them"
    must: ClassVar[str] = (
        "must be none, or github=URL and gitlab=URL with commas between them, each host once;"
        " where its API is elsewhere, KIND=URL|API"
    )

    def read(self, text: str) -> tuple[Forge, ...]:
        if text == "none":
            return ()
        forges = tuple(map(self._forge, text.split(",")))
        if len({forge.host for forge in forges}) < len(forges):
            raise InvalidValue(self.must)
        return forges

    def _forge(self, text: str) -> Forge:
        word, _, addresses = text.strip().partition("=")
        kind = next((kind for kind in FORGE_KINDS if kind == word), None)
        url, bar, api = addresses.partition("|")
        if kind is None or (bar and not api):
            raise InvalidValue(self.must)
        try:
            url = WebAddress().read(url)
            api = WebAddress().read(api) if api else ""
        except InvalidValue:
            raise InvalidValue(self.must) from None
        host, public = _PUBLIC_GITHUB
        if not api and kind == "github":
            api = public if urlsplit(url).hostname == host else f"{url}/api/v3"
        return Forge(kind, url, api or f"{url}/api/v4")
