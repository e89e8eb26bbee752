"""The document of the rows, and the page of it."""

from typing import Annotated

import msgspec
import pytest

from adapters.http.endpoints import Access, Endpoint, Parameter
from adapters.http.openapi_document import openapi_document
from adapters.http.openapi_page import ApiDescription, page
from adapters.http.schemas import NO_VALUES, REQUIRED


class Child(msgspec.Struct):
    name: str


class Thing(msgspec.Struct):
    id: int
    children: list[Child]
    note: str | None = None


async def nothing(call):
    raise AssertionError("rows are described here, not called")


def row(**how):
    return Endpoint(
        **{
            "method": "GET",
            "path": "/row",
            "summary": "What it does",
            "tag": "rows",
            "handle": nothing,
            **how,
        }
    )


def described(*rows):
    return openapi_document(rows, access_url="http://here", version="1.2")


def operation(**how):
    made = row(**how)
    return described(made)["paths"][made.path][made.method.lower()]


def test_a_row_is_described_with_what_goes_in_and_what_comes_out():
    made = row(
        method="POST",
        path="/things/{chat}/{name}",
        body=Thing,
        example={"id": 1, "children": []},
        answers={201: Thing, 204: None},
        parameters=(Parameter(name="q", type=int, help="how many"),),
    )

    whole = described(made)

    told = whole["paths"]["/things/{chat}/{name}"]["post"]
    reference = {"$ref": "#/components/schemas/Thing"}
    assert {"Thing", "Child", "RefusalBody", "Validation", "Problem"} == set(
        whole["components"]["schemas"]
    )
    assert ["chat", "name", "q"] == [parameter["name"] for parameter in told["parameters"]]
    assert "uuid" == told["parameters"][0]["schema"]["format"]
    assert reference == told["requestBody"]["content"]["application/json"]["schema"]
    assert {"id": 1, "children": []} == told["requestBody"]["content"]["application/json"][
        "example"
    ]
    assert reference == told["responses"]["201"]["content"]["application/json"]["schema"]
    assert "content" not in told["responses"]["204"]


@pytest.mark.parametrize(
    ("expected", "how"),
    [
        ({"400", "401", "403", "404", "413", "429", "503"}, {}),
        ({"400", "413", "429", "503"}, {"access": Access.OPEN}),
        ({"400", "404", "413", "429", "503"}, {"access": Access.OPEN, "path": "/row/{name}"}),
        ({"400", "401", "403", "404", "409", "413", "429", "503"}, {"refusals": (409,)}),
        (
            {"101", "400", "401", "403", "404", "413", "426", "429", "503"},
            {"is_socket": True},
        ),
    ],
)
def test_every_status_that_a_row_can_answer_is_there(expected, how):
    assert expected == set(operation(**how)["responses"]) - {"default"}


def test_a_status_that_is_an_answer_is_no_refusal():
    told = operation(answers={503: Thing})["responses"]["503"]

    assert "content" in told
    assert "$ref" not in told


def test_who_may_is_said():
    assert "security" not in operation()
    assert {} in operation(access=Access.OPEN)["security"]
    assert "admins" in operation(access=Access.HIDDEN)["description"]


def test_every_operation_has_a_name_of_its_own():
    whole = described(row(path="/a/{b}"), row(path="/a/b"), row(method="PUT", path="/a/b-c"))

    names = [one["operationId"] for path in whole["paths"].values() for one in path.values()]
    assert sorted(set(names)) == sorted(names)


def test_bytes_and_text_are_what_they_are():
    assert {"*/*"} == set(operation(answers={200: bytes})["responses"]["200"]["content"])
    assert {"text/*"} == set(operation(answers={200: str})["responses"]["200"]["content"])
    assert {"*/*"} == set(operation(method="POST", body=bytes)["requestBody"]["content"])


async def test_both_forms_are_served_and_describe_themselves():
    published = ApiDescription([row(answers={200: Thing})], access_url="http://here")
    served = {one.path: await one.handle(None) for one in published.endpoints()}

    paths = msgspec.json.decode(served["/openapi.json"].body)["paths"]
    assert {"/row", "/openapi.json", "/docs"} == set(paths)
    assert b"What it does" in served["/docs"].body
    assert "default-src 'none'" in dict(served["/docs"].headers)["content-security-policy"]


def test_the_page_shows_types_as_one_would_write_them_and_escapes_words():
    shown = page(described(row(answers={200: Thing}, summary="<b>bold</b> & more")))

    assert "note: string | null" in shown
    assert "children: {\n    name: string\n  }[]" in shown
    assert "<b>bold</b>" not in shown
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; more" in shown
    assert "<script" not in shown


def test_an_older_address_is_marked_and_left_out_of_the_page():
    whole = described(row(path="/api/v2/chats", answers={200: Thing}))

    assert {"/api/v2/chats", "/api/experimental/chats"} == set(whole["paths"])
    assert "deprecated" not in whole["paths"]["/api/v2/chats"]["get"]
    assert whole["paths"]["/api/experimental/chats"]["get"]["deprecated"]
    assert "<code>/api/experimental/chats</code>" not in page(whole)


class Wanted(msgspec.Struct):
    name: Annotated[str | None, REQUIRED] = None
    kind: str | None = None
    count: int = 1


class Sparse(msgspec.Struct, omit_defaults=True):
    id: int
    note: str = ""


def schema_of(name, *rows, values=NO_VALUES):
    whole = openapi_document(rows, access_url="http://here", version="1.2", values=values)
    return whole["components"]["schemas"][name]


def test_fields_of_a_request_are_optional_unless_they_are_marked_as_required():
    told = schema_of("Wanted", row(method="POST", body=Wanted))

    assert ["name"] == told["required"]
    assert {"type": "string"} == told["properties"]["name"]
    assert {"anyOf": [{"type": "string"}, {"type": "null"}]} == told["properties"]["kind"]
    assert {"type": "integer"} == told["properties"]["count"]


def test_fields_of_an_answer_with_a_default_are_required_unless_defaults_are_omitted():
    assert ["id", "children", "note"] == schema_of("Thing", row(answers={200: Thing}))["required"]
    assert ["id"] == schema_of("Sparse", row(answers={200: Sparse}))["required"]


def test_a_struct_of_requests_and_answers_has_the_optional_fields_of_a_request():
    both = row(method="POST", body=Thing, answers={200: Thing})

    assert ["id", "children"] == schema_of("Thing", both)["required"]


def test_a_text_has_the_values_that_are_told_whether_or_not_it_may_be_null():
    values = {("Thing", "note"): ("a", "b"), ("Child", "name"): ("c",)}

    thing, child = (
        schema_of(name, row(answers={200: Thing}), values=values) for name in ("Thing", "Child")
    )

    note = {"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}]}
    assert note == thing["properties"]["note"]
    assert {"type": "string", "enum": ["c"]} == child["properties"]["name"]


@pytest.mark.parametrize("name", ["chat", "modelConfig", "workspace", "file", "server"])
def test_a_place_that_takes_a_uuid_says_so(name):
    [place] = operation(path=f"/row/{{{name}}}")["parameters"]

    assert "uuid" == place["schema"]["format"]


def test_a_row_that_only_refuses_says_that_every_status_is_a_refusal():
    assert "default" in operation(answers={})["responses"]
    assert "default" not in operation(answers={204: None})["responses"]
