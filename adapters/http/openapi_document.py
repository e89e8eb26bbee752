"""The OpenAPI 3.1 document of the rows: every path, its access, its input, every status. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from adapters.http.endpoints import Access, Endpoint
from adapters.http.refusals import Problem, RefusalBody
from adapters.http.schemas import NO_VALUES, ValueTable, plain_components

VERSION = "3.1.0"
REFERENCE = "#/components/schemas/{name}"
EVERY_ROW = (400, 401, 403, 404, 413, 429, 503)  # what the door itself may answer
OPEN_ROW = (400, 413, 429, 503)
SOCKET_ROW = (426,)
PLACE = re.compile(r"\{(\w+)\}")
JSON, PROBLEM, TEXT = "application/json", "application/problem+json", "text/*"

UUID = {"type": "string", "format": "uuid"}
NUMBER = {"type": "integer", "format": "int64"}
PLACES: Mapping[str, Mapping[str, Any]] = {
    "chat": UUID,
    "file": UUID,
    "message": NUMBER,
    "modelConfig": UUID,
    "notification": UUID,
    "organization": UUID,
    "queued": NUMBER,
    "run": UUID,
    "server": UUID,
    "workspace": UUID,
}  # others are names

SECURITY = {
    "token": {"type": "apiKey", "in": "header", "name": "Coder-Session-Token"},
    "bearer": {"type": "http", "scheme": "bearer"},
    "query": {"type": "apiKey", "in": "query", "name": "coder_session_token"},
    "browser": {"type": "apiKey", "in": "cookie", "name": "coder_session_token"},
}

LICENSE = {"name": "Apache-2.0", "identifier": "Apache-2.0"}
TAGS = {
    "MCP servers": "Servers of tools, and logins at them.",
    "about": "This document.",
    "approvals": "Calls of tools that wait for a person's consent.",
    "chats": "Chats: made, listed, searched, changed.",
    "files": "Files that chats are given.",
    "health": "Whether the daemon works, and what it is.",
    "later": "Endpoints that clients of Coder ask for and that do nothing here.",
    "messages": "What is said in chats.",
    "models": "Models that can be asked, and their settings.",
    "organizations": "The one organization, and its members.",
    "pages": "Pages for people.",
    "providers": "Vendors of models, and their keys.",
    "queue": "Messages that wait for their turn.",
    "sessions": "Logging in and out, and tickets for streams.",
    "settings": "Settings of the deployment and of users.",
    "sharing": "Who may read a chat besides its owner.",
    "skills": "Instructions that users keep for their chats.",
    "streams": "Chats as they are watched.",
    "titles": "Titles that a model makes.",
    "tokens": "Tokens for programs.",
    "turns": "Turns: interrupted, tried again, answered, compacted.",
    "users": "Users, and what they may do.",
    "workspaces": "Workspaces of chats, and the templates that they are made from.",
}

INTRODUCTION = """\
A self-hosted, durable daemon that runs LLM-agent chats.

Show a token in one of four ways: the header `Coder-Session-Token`, `Authorization: Bearer`, the \
query parameter or the cookie `coder_session_token`. Whatever is refused is answered with \
`{message, detail, validations}`, or with a problem of RFC 9457 if you accept \
`application/problem+json`."""


def openapi_document(
    rows: Sequence[Endpoint], *, access_url: str, version: str, values: ValueTable = NO_VALUES
) -> dict[str, Any]:
    """Return what is served at /openapi.json. `values` are those of texts that have only a few."""
    types = list(_types(rows))
    schemas, found = msgspec.json.schema_components(types, ref_template=REFERENCE)
    known = dict(zip(map(_key, types), schemas, strict=True))
    sent = [known[_key(row.body)] for row in rows if _is_schema(row.body)]
    components = plain_components(found, types, sent, values)
    paths: dict[str, dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: (row.path, row.method)):
        for path in row.addresses:
            paths.setdefault(path, {})[row.method.lower()] = _operation(row, path, known)
    return {
        "openapi": VERSION,
        "info": {
            "title": "promptcorner",
            "version": version,
            "description": INTRODUCTION,
            "license": LICENSE,
        },
        "servers": [{"url": access_url}],
        "tags": [
            {"name": tag, "description": TAGS.get(tag, tag)}
            for tag in sorted({row.tag for row in rows})
        ],
        "security": [{name: []} for name in SECURITY],
        "paths": paths,
        "components": {
            "schemas": components,
            "responses": _used(_refused(known), paths),
            "securitySchemes": SECURITY,
        },
    }


def _types(rows: Iterable[Endpoint]) -> Iterable[Any]:
    """Return every type of the wire once."""
    found: dict[str, Any] = {_key(type_): type_ for type_ in (RefusalBody, Problem)}
    for row in rows:
        mentioned = (row.body, *row.answers.values(), *(p.type for p in row.parameters))
        found |= {_key(type_): type_ for type_ in mentioned if _is_schema(type_)}
    return found.values()


def _is_schema(type_: Any) -> bool:
    return type_ not in (None, bytes)


def _key(type_: Any) -> str:
    return f"{getattr(type_, '__module__', '')}:{type_!r}"


def _operation(row: Endpoint, path: str, known: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a row at one of its addresses. The older ones are marked as deprecated."""
    is_older = path != row.path
    operation: dict[str, Any] = {
        "operationId": _name(row.method, path),
        "summary": row.summary,
        "description": f"The older address of `{row.path}`." if is_older else _who(row),
        **({"deprecated": True} if is_older else {}),
        "tags": [row.tag],
        "parameters": [*_places(row), *_query(row, known)],
        "responses": {**_answers(row, known), **_refusals(row)},
    }
    if row.access is Access.OPEN:
        operation["security"] = [{}, *({name: []} for name in SECURITY)]
    if row.body is not None:
        operation["requestBody"] = {
            "required": not row.body_may_be_left_out,
            "content": _body(row, known),
        }
    return operation


def _name(method: str, path: str) -> str:
    words = [*PLACE.sub(r"by_\1", path).strip("/").replace("-", "_").split("/")]
    return "_".join((method.lower(), *(word.replace(".", "_") for word in words)))


def _who(row: Endpoint) -> str:
    match row.access:
        case Access.OPEN:
            who = "Open to everybody."
        case Access.USER:
            who = f"For every user{_needed(row)}."
        case Access.ADMIN | Access.HIDDEN:
            who = f"For admins{_needed(row)}."
    rate = f" At most {row.rate_per_minute} a minute." if row.rate_per_minute else ""
    return who + rate


def _needed(row: Endpoint) -> str:
    scope = row.needed_scope
    return f"; the token needs the scope `{scope}`" if scope else ""


def _places(row: Endpoint) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": PLACES.get(name, {"type": "string"}),
        }
        for name in PLACE.findall(row.path)
    ]


def _query(row: Endpoint, known: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": parameter.name,
            "in": "query",
            "description": parameter.help,
            "schema": known[_key(parameter.type)],
        }
        for parameter in row.parameters
    ]


def _body(row: Endpoint, known: Mapping[str, Any]) -> dict[str, Any]:
    if row.body is bytes:
        return {"*/*": {"schema": {}}}
    content: dict[str, Any] = {"schema": known[_key(row.body)]}
    if row.example is not None:
        content["example"] = row.example
    return {JSON: content}


def _answers(row: Endpoint, known: Mapping[str, Any]) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    if row.is_socket:
        answers["101"] = {"description": "It is a WebSocket from now on."}
    if row.has_etag:
        answers["304"] = {"description": "Nothing has changed: `If-None-Match` names this answer."}
    if row.is_page:
        answers["303"] = {"description": "To where one logs in: no session was shown."}
    for status, type_ in row.answers.items():
        answers[str(status)] = {"description": HTTPStatus(status).phrase, **_content(type_, known)}
    if not any(status.startswith("2") for status in answers):
        answers["default"] = {"description": "Every status that is not listed is a refusal."}
    return answers


def _content(type_: Any, known: Mapping[str, Any]) -> dict[str, Any]:
    if type_ is None:
        return {}
    if type_ is bytes:
        return {"content": {"*/*": {"schema": {}}}}
    media_type = TEXT if type_ is str else JSON
    return {"content": {media_type: {"schema": known[_key(type_)]}}}


def _refusals(row: Endpoint) -> dict[str, Any]:
    statuses = {*(OPEN_ROW if row.access is Access.OPEN else EVERY_ROW), *row.refusals}
    statuses |= set(SOCKET_ROW) if row.is_socket else set()
    statuses |= {404} if PLACE.search(row.path) else set()
    form = "page" if str in row.answers.values() else "refusal"
    return {
        str(status): {"$ref": f"#/components/responses/{form}_{status}"}
        for status in sorted(statuses - set(row.answers))
    }


def _used(responses: Mapping[str, Any], paths: Mapping[str, Any]) -> dict[str, Any]:
    """Return the responses to which an operation refers."""
    told = {
        answer["$ref"].rpartition("/")[2]
        for item in paths.values()
        for operation in item.values()
        for answer in operation["responses"].values()
        if "$ref" in answer
    }
    return {name: response for name, response in responses.items() if name in told}


def _refused(known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the form of every refusal. Where pages are answered, it may be a page as well."""
    refusal = {
        JSON: {"schema": known[_key(RefusalBody)]},
        PROBLEM: {"schema": known[_key(Problem)]},
    }
    forms = {"refusal": refusal, "page": {**refusal, TEXT: {"schema": {"type": "string"}}}}
    return {
        f"{form}_{status.value}": {"description": status.phrase, "content": content}
        for form, content in forms.items()
        for status in HTTPStatus
        if status.value >= HTTPStatus.BAD_REQUEST
    }
