"""The address of a region's models, and the proof of who asks, the same for every interface."""

from urllib.parse import quote

from actors.law.parts.prompt import Asker
from adapters.models.providers.bedrock.aws import (
    BearerToken,
    Credentials,
    SigningScope,
    signature_headers,
)
from adapters.models.providers.dial import split_url
from adapters.models.providers.http import ProviderRequest, identity
from runtime import clock

SERVICE = "bedrock"


class BedrockEndpoint:
    """The runtime of Bedrock in one region, asked with one set of credentials."""

    def __init__(self, credentials: Credentials, region: str, base_url: str | None) -> None:
        self._credentials = credentials
        self._region = region
        url = base_url or f"https://bedrock-runtime.{region}.amazonaws.com"
        self._origin, self._path = split_url(url)

    def request(
        self, model: str, action: str, content: bytes, asker: Asker | None
    ) -> ProviderRequest:
        """Return the request of an action on a model, by the id that AWS has for it."""
        target = f"{self._path}/model/{quote(model, safe='')}/{action}"
        headers = (
            ("Content-Type", "application/json"),
            ("Accept", "application/json"),
            *identity(asker),
            *self._authorization(target, content),
        )
        return ProviderRequest(self._origin, target, headers, content)

    def secrets(self) -> tuple[str, ...]:
        """Return the secrets that no error or log may show, even if the server repeats them."""
        match self._credentials:
            case BearerToken(token):
                return (token,)
            case keys:
                return (keys.secret_key, keys.session_token or "")

    def _authorization(self, target: str, content: bytes) -> tuple[tuple[str, str], ...]:
        if isinstance(self._credentials, BearerToken):
            return (("Authorization", f"Bearer {self._credentials.token}"),)
        signed = (("Host", self._origin.host_header), ("Content-Type", "application/json"))
        return signature_headers(
            "POST",
            target,
            headers=signed,
            body=content,
            keys=self._credentials,
            scope=SigningScope(self._region, SERVICE),
            now=clock.wall(),
        )
