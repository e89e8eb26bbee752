"""A plugin that believes a reverse proxy which has logged a user in, as oauth2-proxy does.

The proxy says who it is in a header (PROXY_LOGIN_HEADER, if it is not X-Forwarded-User). The header
is believed from the proxies of the setting `trusted_proxies` alone: anybody could send it. Such a
proxy has to remove the header from what its clients send.
"""

import os

from promptcorner import ext

PROMPTCORNER_API = 1


class ProxyLogin(ext.IdentitySource):
    """Users may read and write chats, and nothing else; for more they need a token."""

    def __init__(self) -> None:
        self._header = os.environ.get("PROXY_LOGIN_HEADER", "X-Forwarded-User").lower()

    async def identify(self, request: ext.IdentityRequest) -> ext.Identity | None:
        """Return the user whom the proxy names, if it is one of ours."""
        user = request.headers.get(self._header, "").strip()
        if not (user and request.is_from_trusted_proxy):
            return None
        return ext.Identity(user, scopes=("chats", "users:read"))
