"""`/openapi.json` and `/docs`: the API described, for machines and for people.

The page holds no script and loads nothing. The description takes a tenth of a second to make. It is
made at the first request, in a thread, so that neither the start nor the event loop waits for it.
"""

import importlib.metadata
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from html import escape
from typing import Any

import msgspec

from adapters.http.endpoints import Access, Call, Endpoint, HttpResponse
from adapters.http.openapi_document import openapi_document
from adapters.http.schemas import NO_VALUES, ValueTable
from runtime.threads import ThreadLimits, read

DEPTH_MAX = 6  # to which a type is shown; deeper it is only named
FIELDS_INDENT = "  "

STYLE = """
:root{color-scheme:light dark;--line:#8884;--soft:#8881}
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h2{margin:2.5rem 0 .5rem;border-bottom:1px solid var(--line)}
nav a{margin-right:.8rem}
details{border:1px solid var(--line);border-radius:6px;margin:.4rem 0;padding:.3rem .7rem}
summary{cursor:pointer}
code,pre{font:13px/1.45 ui-monospace,monospace}
pre{background:var(--soft);padding:.6rem;border-radius:6px;overflow:auto}
b.m{display:inline-block;width:4.2rem}
small{opacity:.75}
table{border-collapse:collapse}
td{padding:.1rem .8rem .1rem 0;vertical-align:top}
"""


def page(document: Mapping[str, Any]) -> str:
    """Return what is served at /docs."""
    tags = [tag["name"] for tag in document["tags"]]
    title = escape(f"{document['info']['title']} {document['info']['version']}")
    links = "".join(f'<a href="#{escape(tag)}">{escape(tag)}</a>' for tag in tags)
    sections = "".join(_section(document, tag) for tag in tags)
    said = "".join(f"<p>{_words(p)}</p>" for p in document["info"]["description"].split("\n\n"))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width">'
        f"<style>{STYLE}</style><h1>{title}</h1>{said}"
        f'<p>For machines: <a href="/openapi.json">/openapi.json</a></p>'
        f"<nav>{links}</nav>{sections}</html>\n"
    )


def _section(document: Mapping[str, Any], tag: str) -> str:
    operations = "".join(
        _operation(document, method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if tag in operation["tags"] and not operation.get("deprecated")
    )
    return f'<h2 id="{escape(tag)}">{escape(tag)}</h2>{operations}'


def _operation(
    document: Mapping[str, Any], method: str, path: str, operation: Mapping[str, Any]
) -> str:
    types = document["components"]["schemas"]
    lines = [f"<p><small>{_words(operation['description'])}</small></p>"]
    if operation["parameters"]:
        lines.append(f"<table>{''.join(map(_parameter, operation['parameters']))}</table>")
    if "requestBody" in operation:
        lines.append(f"<p>Takes</p>{_contents(operation['requestBody'], types)}")
    for status, answer in operation["responses"].items():
        if status.startswith(("1", "2")):
            said = f"<p>{status} {escape(answer['description'])}</p>"
            lines.append(said + _contents(answer, types))
    refused = ", ".join(s for s in operation["responses"] if s.startswith(("3", "4", "5")))
    lines.append(f"<p><small>Or {refused}</small></p>")
    head = f'<b class="m">{method.upper()}</b><code>{escape(path)}</code>'
    summary = f"<summary>{head} <small>{escape(operation['summary'])}</small></summary>"
    return f'<details id="{operation["operationId"]}">{summary}{"".join(lines)}</details>'


def _parameter(parameter: Mapping[str, Any]) -> str:
    kind = escape(_shape(parameter["schema"], {}, 0))
    says = escape(parameter.get("description", ""))
    where = parameter["in"]
    return (
        f"<tr><td><code>{escape(parameter['name'])}</code><td><small>{where}</small>"
        f"<td><code>{kind}</code><td>{says}"
    )


def _contents(holder: Mapping[str, Any], types: Mapping[str, Any]) -> str:
    return "".join(
        f"<pre>{escape(_shape(content['schema'], types, 0))}</pre>"
        for content in holder.get("content", {}).values()
        if content["schema"]
    )


def _shape(schema: Mapping[str, Any], types: Mapping[str, Any], depth: int) -> str:
    """A type as one would write it down."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if depth >= DEPTH_MAX or name not in types:
            return str(name)
        return _shape(types[name], types, depth)
    if "anyOf" in schema:
        return " | ".join(_shape(one, types, depth) for one in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(f'"{value}"' if value != "" else '""' for value in schema["enum"])
    if "properties" in schema:
        return "\n".join(["{", *_fields(schema, types, depth), FIELDS_INDENT * depth + "}"])
    match schema.get("type"):
        case "array":
            return f"{_shape(schema.get('items') or {}, types, depth)}[]"
        case "object":
            values = schema.get("additionalProperties")
            named = _shape(values, types, depth) if isinstance(values, Mapping) else "any"
            return f"{{string: {named}}}"
        case None:
            return "any"
        case kind:
            return str(schema.get("format", kind))


def _fields(schema: Mapping[str, Any], types: Mapping[str, Any], depth: int) -> Iterator[str]:
    required = schema.get("required", ())
    for name, field in schema["properties"].items():
        mark = "" if name in required else "?"
        yield f"{FIELDS_INDENT * (depth + 1)}{name}{mark}: {_shape(field, types, depth + 1)}"


def _words(text: str) -> str:
    """Words between backticks are code."""
    pieces = escape(text).split("`")
    return "".join(f"<code>{p}</code>" if at % 2 else p for at, p in enumerate(pieces))


HEADERS = (
    ("cache-control", "no-cache"),
    ("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'"),
)


MAKING = ThreadLimits("api_document", 1)


class ApiDescription:
    """Serves the description of these rows, and of its own two."""

    def __init__(
        self, rows: Sequence[Endpoint], *, access_url: str, values: ValueTable = NO_VALUES
    ) -> None:
        self._rows = [*rows, *self.endpoints()]
        self._values = values
        self._access_url = access_url

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path="/openapi.json",
                handle=self.openapi_json,
                summary="This document",
                tag="about",
                access=Access.OPEN,
                answers={200: dict},
            ),
            Endpoint(
                method="GET",
                path="/docs",
                handle=self.docs_page,
                summary="This document, to be read",
                tag="about",
                access=Access.OPEN,
                answers={200: str},
            ),
        )

    async def openapi_json(self, call: Call) -> HttpResponse:
        body = await read(MAKING, lambda: self._json)
        return HttpResponse(200, body, headers=HEADERS)

    async def docs_page(self, call: Call) -> HttpResponse:
        body = await read(MAKING, lambda: self._page)
        return HttpResponse(200, body, "text/html; charset=utf-8", HEADERS)

    @cached_property
    def _document(self) -> dict[str, Any]:
        version = importlib.metadata.version("promptcorner")
        return openapi_document(
            self._rows, access_url=self._access_url, version=version, values=self._values
        )

    @cached_property
    def _json(self) -> bytes:
        return msgspec.json.encode(self._document) + b"\n"

    @cached_property
    def _page(self) -> bytes:
        return page(self._document).encode()
