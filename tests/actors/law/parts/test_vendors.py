"""The table of vendors: facts that fit together, and what is looked up in them."""

import ast
from pathlib import Path

import pytest

from actors.law.parts.vendors import (
    RESPONSES_RULES,
    VENDORS,
    Login,
    display_name,
    type_in_error,
    type_named,
    vendor_of,
)

# The protocols, and the fake of them, know whose words they write.
OWN_WORDS = ("actors/law/parts/vendors.py", "adapters/models/providers/", "adapters/rehearsal/")
ASKED = [vendor for vendor in VENDORS if vendor.wire is not None]


def test_a_type_stands_once():
    types = [vendor.type for vendor in VENDORS]

    assert len(types) == len(set(types))
    assert [vendor_of(type) for type in types] == list(VENDORS)


def test_a_variable_sets_up_one_vendor():
    names = [name for vendor in VENDORS for each in vendor.variables for name in each.names]

    assert len(names) == len(set(names))


@pytest.mark.parametrize("vendor", ASKED, ids=lambda vendor: vendor.type)
def test_a_vendor_that_can_be_asked_has_all_that_it_takes(vendor):
    assert vendor.name
    assert vendor.default_model
    assert vendor.rules.files
    assert vendor.error_words
    if vendor.login is not Login.AWS:
        assert vendor.key.is_secret
        assert vendor.base_url_variable is not None
        assert vendor.base_url is None or vendor.base_url.startswith("https://")


def test_a_type_that_is_not_known_cannot_be_asked():
    unknown = vendor_of("brand-new")

    assert (unknown.type, unknown.name, unknown.wire) == ("brand-new", "brand-new", None)
    assert "somebody" == display_name("brand-new", "somebody") == display_name(None, "somebody")


@pytest.mark.parametrize(
    ("spelled", "type"),
    [
        (None, None),
        (" ", None),
        (" Azure OpenAI", "azure"),
        ("OpenAI Compatible", "openai-compat"),
        ("bedrock", "bedrock"),
        ("Brand-New", "brand-new"),
    ],
)
def test_a_type_is_known_however_it_is_spelled(spelled, type):
    assert type == type_named(spelled)


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("OpenRouter: the anthropic model is gone", "openrouter"),
        ("bedrock: claude is busy", "bedrock"),
        ("azure openai refuses", "azure"),
        ("openai-compat: no such model", "openai-compat"),
        ("openai refuses", "openai"),
        ("Vertex is away", "google"),
        ("the network is away", None),
    ],
)
def test_an_error_names_who_it_is_of(text, type):
    assert type == type_in_error(text)


@pytest.mark.parametrize(
    ("type", "responses", "taken"),
    [
        ("google", False, {"image/png", "text/csv", "application/pdf", "audio/wav", "a/zip"}),
        ("anthropic", False, {"image/png", "text/csv", "application/pdf"}),
        ("bedrock", False, {"image/png", "text/csv", "application/pdf"}),
        ("openai", True, {"image/png", "application/pdf"}),
        ("azure", True, {"image/png", "application/pdf"}),
        ("azure", False, {"image/png", "text/csv", "application/pdf", "audio/wav"}),
        ("openai-compat", False, {"image/png", "text/csv", "application/pdf", "audio/wav"}),
        ("vercel", False, {"image/png", "application/pdf", "audio/wav"}),
        ("openrouter", False, {"image/png", "application/pdf", "audio/wav"}),
        ("brand-new", False, set()),
    ],
)
def test_providers_take_files_of_these_types(type, responses, taken):
    rules = RESPONSES_RULES if responses else vendor_of(type).rules
    kinds = {"image/png", "text/csv", "application/pdf", "audio/wav", "a/zip"}

    assert {kind for kind in kinds if rules.takes(kind)} == taken


def test_no_other_module_asks_for_a_vendor_by_its_name():
    types = {vendor.type for vendor in VENDORS}
    root = Path(__file__).parents[4]

    found = [
        f"{path.relative_to(root)}:{node.lineno}"
        for package in ("actors", "adapters")
        for path in (root / package).rglob("*.py")
        if not path.relative_to(root).as_posix().startswith(OWN_WORDS)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Compare | ast.Dict | ast.MatchValue)
        for part in (node.keys if isinstance(node, ast.Dict) else ast.iter_child_nodes(node))
        for each in ast.walk(part or node)
        if isinstance(each, ast.Constant) and each.value in types
    ]

    assert not found, f"make it a fact of the vendor, in actors/law/parts/vendors.py: {found}"
