"""The document at /openapi.json before programs of others: a linter, a generator, a compiler.

Redocly's program lints the document and makes a TypeScript client of it, with its own defaults;
the client is compiled under `strict` and sends what the README sends first.
"""

import json
from functools import partial

import pytest
import trio

from adapters.daemon.text_values import text_values
from tests.web import npm

pytestmark = pytest.mark.slow

FETCH_AGAIN_SECONDS = 600
WARNINGS_MAX = 9
# Two paths that a word tells apart, as /chats/files/{file} and /chats/{chat}/cost, are those of
# Coder's API. The specification says that the word goes first, and the linter does not know that.
RULES = {"extends": ["recommended"], "rules": {"no-ambiguous-paths": "off"}}
PROGRAM = """
import { client } from "./client.js";

client.configure({ serverUrl: process.argv[2] });
client.auth.bearer(process.argv[3] ?? "");
const me = await client.get_api_v2_users_by_user({ path: { user: "me" } });
const chat = await client.post_api_v2_chats({
  body: {
    organization_id: me.organization_ids[0] ?? "",
    content: [{ type: "text", text: "Name three rivers." }],
  },
});
const running: "running" | "waiting" | "error" | "requires_action" | "interrupting" = chat.status;
console.log(JSON.stringify({ id: chat.id, status: running }));
"""
NODE_TYPES = "declare const process: { argv: string[] };\n"
COMPILER = {
    "compilerOptions": {
        "strict": True,
        "noEmitOnError": True,
        "target": "es2022",
        "module": "nodenext",
        "lib": ["es2022", "dom", "dom.iterable", "dom.asynciterable"],
        "types": [],
        "outDir": "made",
        "rootDir": ".",
    },
    "files": ["request.ts", "client.ts", "process.d.ts"],
}


@pytest.fixture(scope="module")
def programs():
    """The programs of the linter and of the compiler; skipped where they cannot be had."""
    try:
        redocly, typescript = (
            npm.package(name, again_seconds=FETCH_AGAIN_SECONDS)
            for name in ("@redocly/cli", "typescript")
        )
    except npm.Unavailable as why:
        npm.leave_out(f"the document was not linted: {why}")
    return redocly / "bin/cli.js", typescript / "lib/tsc.js"


@pytest.fixture
async def document(edge, tmp_path):
    answer = await edge.nobody.get("/openapi.json")
    (tmp_path / "openapi.json").write_bytes(answer.body)
    return answer.document


async def node(*words, cwd):
    return await trio.to_thread.run_sync(partial(npm.node, *words, cwd=cwd))


async def test_a_linter_has_nothing_to_complain_about(document, programs, tmp_path):
    (tmp_path / "redocly.yaml").write_text(json.dumps(RULES))

    said = await node(programs[0], "lint", "openapi.json", "--format=json", cwd=tmp_path)

    totals = json.loads(said)["totals"]
    assert 0 == totals["errors"]
    assert totals["warnings"] <= WARNINGS_MAX


async def test_a_generated_client_is_compiled_under_strict_and_makes_a_chat(
    edge, document, programs, tmp_path
):
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "tsconfig.json").write_text(json.dumps(COMPILER))
    (tmp_path / "request.ts").write_text(PROGRAM)
    (tmp_path / "process.d.ts").write_text(NODE_TYPES)

    await node(programs[0], "generate-client", "openapi.json", "-o", "client.ts", cwd=tmp_path)
    await node(programs[1], "-p", ".", cwd=tmp_path)
    said = await node("made/request.js", edge.url, edge.member.token, cwd=tmp_path)

    made = json.loads(said)
    assert "running" == made["status"]
    assert 200 == (await edge.member.get(f"/api/v2/chats/{made['id']}")).status


async def test_every_text_with_a_few_values_lists_them(document):
    schemas = document["components"]["schemas"]

    for (struct, field), values in text_values().items():
        assert field in schemas[struct]["properties"], f"{struct} has no {field}"
        assert [*values] in list(enums(schemas[struct]["properties"][field])), f"{struct}.{field}"


async def test_no_schema_has_a_default_or_a_name_of_a_module(document):
    for name, schema in document["components"]["schemas"].items():
        assert "." not in name, f"{name} shows where it stands in the code"
        for field, told in schema.get("properties", {}).items():
            assert "default" not in told, f"{name}.{field}"


def enums(schema):
    if isinstance(schema, dict):
        if "enum" in schema:
            yield schema["enum"]
        for inner in schema.values():
            yield from enums(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from enums(inner)
