"""One table of shapes that clients of the reference know, against the document of the assembled
API.

A line names a field and its type. With `?` behind its name a field is left out where it has no
value, and never null; with `|null` it is always there, and may be null; all others are always
there. Fields of ours beside these are allowed: clients ignore what they do not know. Where the
reference says no more than the path and the status, a line has no fields.
"""

import pytest

pytestmark = pytest.mark.slow

CONFIG = "C/config"
SUMMARY = """
    id uuid, chat_id uuid, kind chat_turn|title_generation|quickgen|compaction,
    status in_progress|completed|error|interrupted, provider? string, model? string,
    summary object, started_at ts, updated_at ts, finished_at? ts
"""
NOTIFICATION = """
    id uuid, user_id uuid, template_id uuid, targets list, title string, content string,
    icon string, actions list, read_at ts|null, created_at ts
"""
ANSWERS = {
    "GET C/{chat}/cost 200": """
        chat_id uuid, total_cost_micros int, request_count int, unpriced_request_count int""",
    "GET C/{chat}/debug/runs 200 []": SUMMARY,
    "GET C/{chat}/debug/runs/{debugRun} 200": SUMMARY
    + """, root_chat_id? uuid, parent_chat_id? uuid, model_config_id? uuid,
        trigger_message_id? int, history_tip_message_id? int, steps list""",
    "GET C/{chat}/debug/runs/{debugRun} 200 steps[]": """
        id uuid, run_id uuid, chat_id uuid, step_number int, operation stream|generate,
        status in_progress|completed|error|interrupted, history_tip_message_id? int,
        assistant_message_id? int, normalized_request object, normalized_response? object,
        usage? object, attempts list, error? object, metadata object, started_at ts,
        updated_at ts, finished_at? ts""",
    "GET /api/v2/notifications/inbox 200": "notifications list, unread_count int",
    "GET /api/v2/notifications/inbox 200 notifications[]": NOTIFICATION,
    "PUT /api/v2/notifications/inbox/{notification}/read-status 200": """
        notification object, unread_count int""",
    "PUT /api/v2/notifications/inbox/{notification}/read-status 200 notification": NOTIFICATION,
    "PUT /api/v2/notifications/inbox/mark-all-as-read 204": "",
    "GET C/{chat}/diff 200": """
        chat_id uuid, provider? string, remote_origin? string, branch? string,
        pull_request_url? string, diff? string""",
    "GET C/{chat} 200 diff_status": """
        chat_id uuid, url? string, pull_request_state? string, pull_request_title string,
        pull_request_draft bool, changes_requested bool, additions int, deletions int,
        changed_files int, author_login? string, author_avatar_url? string, base_branch? string,
        head_branch? string, pr_number? int, commits? int, approved? bool, reviewer_count? int,
        refreshed_at? ts, stale_at? ts""",
    "POST C/files 201": "id uuid",
    "POST C/files/{file}/download-url 200": """
        url string, expires_at ts, sha256 string, size_bytes int, name string, mime_type string""",
    f"GET {CONFIG}/computer-use-provider 200": "provider string",
    f"PUT {CONFIG}/computer-use-provider 204": "",
    f"GET {CONFIG}/debug-logging 200": "allow_users bool, forced_by_deployment bool",
    f"PUT {CONFIG}/debug-logging 204": "",
    f"GET {CONFIG}/user-debug-logging 200": """
        debug_logging_enabled bool, user_toggle_allowed bool, forced_by_deployment bool""",
    f"PUT {CONFIG}/user-debug-logging 204": "",
    f"GET {CONFIG}/workspace-ttl 200": "workspace_ttl_ms int",
    f"PUT {CONFIG}/workspace-ttl 204": "",
    f"GET {CONFIG}/retention-days 200": "retention_days int",
    f"PUT {CONFIG}/retention-days 204": "",
    f"GET {CONFIG}/debug-retention-days 200": "debug_retention_days int",
    f"PUT {CONFIG}/debug-retention-days 204": "",
    f"GET {CONFIG}/auto-archive-days 200": "auto_archive_days int",
    f"PUT {CONFIG}/auto-archive-days 204": "",
    "GET /api/v2/users/{user}/ai/spend 200": "",
    "GET /api/v2/users/{user}/ai/budget/override 200": "",
    "PUT /api/v2/users/{user}/ai/budget/override 200": "",
    "DELETE /api/v2/users/{user}/ai/budget/override 204": "",
    "GET /api/v2/groups/{group}/ai/budget 200": "",
    "PUT /api/v2/groups/{group}/ai/budget 200": "",
    "DELETE /api/v2/groups/{group}/ai/budget 204": "",
    "GET /api/v2/groups/{group}/ai/spend 200": "",
    "GET /api/v2/groups/{group}/members/ai/spend 200": "",
    "GET /api/v2/organizations/{organization}/groups/ai/spend 200": "",
    "GET /api/v2/organizations/{organization}/ai/spend/export 200": "",
    "GET /api/experimental/ai/model-prices 200": "",
}
# What each may be refused with, beside what all rows may be.
REFUSALS = {
    f"PUT {CONFIG}/user-debug-logging": (403, 409),
    "GET C/{chat}/stream/git": (400, 403, 426),
    "GET C/{chat}/stream/desktop": (400, 403, 426),
    "POST C/files": (400, 403, 413, 429),
}
FORMATS = {
    "uuid": ("string", "uuid"),
    "ts": ("string", None),
    "string": ("string", None),
    "int": ("integer", None),
    "bool": ("boolean", None),
    "list": ("array", None),
    "object": ("object", None),
}


def path_of(text):
    return text.replace("C/", "/api/v2/chats/", 1) if text.startswith("C/") else text


class Shapes:
    """The schemas of a document."""

    def __init__(self, document):
        self.paths = document["paths"]
        self.named = document["components"]["schemas"]

    def resolved(self, schema):
        """Return a schema without references and without null, and whether it may be null."""
        may_be_null = False
        while True:
            if "$ref" in schema:
                schema = self.named[schema["$ref"].rpartition("/")[2]]
            elif "anyOf" in schema:
                others = [each for each in schema["anyOf"] if each != {"type": "null"}]
                may_be_null |= len(others) < len(schema["anyOf"])
                if len(others) != 1:
                    return {"anyOf": others}, may_be_null
                [schema] = others
            else:
                return schema, may_be_null

    def answer(self, line):
        """Return the schema of an answer, of which a place within may be named; None: no body."""
        method, path, status, *within = line.split()
        answers = self.paths[path_of(path)][method.lower()]["responses"]
        content = answers[status].get("content", {}).get("application/json")
        schema = None if content is None else self.resolved(content["schema"])[0]
        for place in within:
            name = place.removesuffix("[]")
            schema = self.resolved(schema["properties"][name])[0] if name else schema
            schema = self.resolved(schema["items"])[0] if place.endswith("[]") else schema
        return schema


def differences(shapes, schema, fields):
    """Yield what is otherwise than the line says."""
    for field in filter(None, (each.strip() for each in fields.split(","))):
        name, kind = field.split()
        is_optional, is_nullable = name.endswith("?"), kind.endswith("|null")
        name, kind = name.removesuffix("?"), kind.removesuffix("|null")
        found = schema["properties"].get(name)
        if found is None:
            yield f"{name}: is not there"
            continue
        shape, may_be_null = shapes.resolved(found)
        if (name in schema.get("required", ())) == is_optional:
            yield f"{name}: {'is always there' if is_optional else 'may be left out'}"
        if may_be_null != is_nullable:
            yield f"{name}: {'may' if may_be_null else 'may not'} be null"
        if "|" in kind:
            if set(shape.get("enum", ())) != set(kind.split("|")):
                yield f"{name}: is one of {shape.get('enum')}"
        elif shape and (shape.get("type"), shape.get("format")) != FORMATS[kind]:
            yield f"{name}: is {shape.get('type')} {shape.get('format')}, not {kind}"


async def test_every_endpoint_answers_in_the_shape_that_clients_of_the_reference_know(edge):
    shapes = Shapes((await edge.nobody.get("/openapi.json")).document)
    wrong = []
    for line, fields in ANSWERS.items():
        schema = shapes.answer(line)
        wrong += [f"{line}: {each}" for each in differences(shapes, schema, fields)]
        assert not (" 204" in line and schema), line

    assert [] == wrong
    for line, statuses in REFUSALS.items():
        method, path = line.split()
        answers = shapes.paths[path_of(path)][method.lower()]["responses"]
        assert set(map(str, statuses)) <= set(answers), line
