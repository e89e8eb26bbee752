"""The place of the daemon of a command, and the clients of `promptcorner_client` that ask it."""

import argparse
import ssl
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx2

from adapters.cli.admin.connection import LOCAL_HOSTS, daemon_of, token_of
from adapters.daemon.listening.certificates import context_of
from promptcorner_client.async_client import AsyncClient
from promptcorner_client.sync_client import Client


@dataclass(frozen=True, slots=True)
class DaemonPlace:
    """The address of a daemon, the token that it is asked with, and how it shows who it is."""

    url: str
    token: str
    certificate: str = ""  # the only one that is believed; "": those that the system believes

    def client(self) -> AsyncClient:
        """Return a client on asyncio or trio."""
        return AsyncClient(self.url, self.token, transport=self.transport())

    def blocking_client(self) -> Client:
        if not self._is_direct:
            return Client(self.url, self.token)
        transport = httpx2.HTTPTransport(verify=self._verify, trust_env=False)
        return Client(self.url, self.token, transport=transport)

    def transport(self) -> httpx2.AsyncHTTPTransport | None:
        """Return the transport to a daemon of this machine, before which no proxy stands; None:
        that of the library."""
        if not self._is_direct:
            return None
        return httpx2.AsyncHTTPTransport(verify=self._verify, trust_env=False)

    @property
    def _is_direct(self) -> bool:
        return bool(self.certificate) or urlsplit(self.url).hostname in LOCAL_HOSTS

    @property
    def _verify(self) -> ssl.SSLContext | bool:
        return context_of(self.certificate) if self.certificate else True


def place_of(options: argparse.Namespace) -> DaemonPlace:
    """Return the place of the daemon that was named, or of that of the data directory here."""
    daemon = daemon_of(options)
    return DaemonPlace(daemon.url, token_of(options), daemon.certificate)
