"""`/openapi.json` and `/docs`: the API described, for machines and for people."""

import importlib.metadata
from collections.abc import Sequence
from functools import cached_property

import msgspec

from adapters.http.endpoints import Access, Call, Endpoint, HttpResponse
from adapters.http.openapi.document import document
from adapters.http.openapi.page import page

HEADERS = (
    ("cache-control", "no-cache"),
    ("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'"),
)


class Published:
    """Describes these rows, and its own two."""

    def __init__(self, rows: Sequence[Endpoint], *, access_url: str) -> None:
        version = importlib.metadata.version("promptcorner")
        self._rows = [*rows, *self.endpoints()]
        self._document = document(self._rows, access_url=access_url, version=version)

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path="/openapi.json",
                handle=self.machines,
                summary="This document",
                tag="about",
                access=Access.OPEN,
                answers={200: dict},
            ),
            Endpoint(
                method="GET",
                path="/docs",
                handle=self.people,
                summary="This document, to be read",
                tag="about",
                access=Access.OPEN,
                answers={200: str},
            ),
        )

    async def machines(self, call: Call) -> HttpResponse:
        return HttpResponse(200, self._json, headers=HEADERS)

    async def people(self, call: Call) -> HttpResponse:
        return HttpResponse(200, self._page, "text/html; charset=utf-8", HEADERS)

    @cached_property
    def _json(self) -> bytes:
        return msgspec.json.encode(self._document) + b"\n"

    @cached_property
    def _page(self) -> bytes:
        return page(self._document).encode()
