"""What the model sends has the shape of what the vendors sent: the same events, the same keys.

The recordings are looked for beside the project; where there are none, these tests compare nothing
and say so.
"""

import json
from collections import defaultdict

import pytest

from tests.adapters.rehearsal.serving import VENDORS, a_model, events, request
from tests.fakes.recordings import recordings

RECORDED = {
    "anthropic": ("TestAnthropicCommon", "TestAnthropicThinking"),
    "chat": ("TestOpenAICommon",),
    "responses": ("TestOpenAIResponsesCommon", "TestOpenAIResponsesWithSummaryThinking"),
    "google": ("TestGoogleCommon", "TestGoogleThinking"),
}
HOSTS = ("api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com")
TOOLS = {
    "anthropic": [{"name": "add"}],
    "chat": [{"type": "function", "function": {"name": "add"}}],
    "responses": [{"type": "function", "name": "add", "parameters": {"type": "object"}}],
    "google": [{"functionDeclarations": [{"name": "add"}]}],
}
CALLS = 'add:{"a":1} add:{"a":2}'


def keys(value, above=""):
    """The path of every key in a document; the items of a list are all alike."""
    if isinstance(value, dict):
        below = [keys(member, f"{above}.{key}") for key, member in value.items()]
        return {f"{above}.{key}" for key in value}.union(*below)
    if isinstance(value, list):
        return set().union(*(keys(item, f"{above}[]") for item in value))
    return set()


def kind(name, document):
    """What decides about the keys of an event, in the form of any vendor."""
    if candidates := document.get("candidates"):
        parts = candidates[0]["content"].get("parts", [{}])
        return (*sorted(parts[0]), candidates[0].get("finishReason") is not None)
    if "choices" in document:
        delta = document["choices"][0]["delta"] if document["choices"] else {"usage": None}
        return (*sorted(delta), "id" in delta.get("tool_calls", [{}])[0])
    inner = [document.get(member) for member in ("delta", "content_block", "item", "part")]
    return name, *(each.get("type") for each in inner if isinstance(each, dict))


def recorded(vendor, *, streamed):
    """The documents of each kind."""
    found = defaultdict(list)
    for recording in recordings(*RECORDED[vendor]):
        for exchange in recording.exchanges:
            if exchange.streamed == streamed and any(host in exchange.url for host in HOSTS):
                for name, document in _documents(exchange.body, streamed):
                    found[kind(name, document) if streamed else None].append(document)
    return found


def _documents(body, streamed):
    return events(body) if streamed else [(None, json.loads(body))]


async def rehearsed(vendor, *, streamed):
    """(kind, document) of everything in three answers: text, calls, text and calls."""
    found = []
    thinks = 0 if vendor == "chat" else 2  # OpenAI's does not show what it thinks
    for settings in ({}, {"tool_calls": CALLS}, {"tool_calls": CALLS, "preamble": 2}):
        async with a_model(reasoning=thinks, **settings) as model:
            path, asked = request(vendor, streamed=streamed)
            asked["tools"] = TOOLS[vendor]
            if vendor == "chat":
                asked["stream_options"] = {"include_usage": True}
            body = (await model.client.post(path, json=asked)).content
        for name, document in _documents(body, streamed):
            found.append((kind(name, document) if streamed else None, document))
    return found


@pytest.mark.parametrize("vendor", VENDORS)
async def test_every_event_has_the_keys_of_the_vendors(vendor, record_property):
    theirs = recorded(vendor, streamed=True)

    ours = await rehearsed(vendor, streamed=True)

    record_property("events_compared", len(ours) if theirs else 0)
    for what, document in ours if theirs else ():
        assert what in theirs, "the vendor sends no such event"
        _assert_alike(document, theirs[what])


@pytest.mark.parametrize("vendor", VENDORS)
async def test_a_document_has_the_keys_of_the_vendors(vendor, record_property):
    theirs = recorded(vendor, streamed=False)[None]

    ours = await rehearsed(vendor, streamed=False)

    record_property("documents_compared", len(ours) if theirs else 0)
    for _, document in ours if theirs else ():
        _assert_alike(document, theirs)


@pytest.mark.parametrize("vendor", ["anthropic", "responses"])
async def test_the_model_sends_every_kind_of_event_that_the_vendor_does(vendor):
    theirs = recorded(vendor, streamed=True)

    ours = {what for what, _ in await rehearsed(vendor, streamed=True)}

    assert set(theirs) <= ours


def _assert_alike(ours, theirs):
    """It has every key that theirs always have, and none that theirs never have."""
    each = [keys(document) for document in theirs]

    assert set.intersection(*each) - keys(ours) == set()
    assert keys(ours) - set.union(*each) == set()
