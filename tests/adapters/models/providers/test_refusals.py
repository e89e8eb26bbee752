"""Refusals as the vendors write them, over their real wires: what a person is told of each.

The samples are written by hand after public documentation and reports.
"""

import json

import pytest

from actors.law.parts.message import TextPart
from actors.law.parts.prompt import Prompt, UserInput
from adapters.models.connecting import connect
from adapters.models.providers.bedrock.aws import BearerToken
from adapters.models.providers.bedrock.provider import BedrockProvider
from adapters.models.providers.http import HttpClient
from tests.adapters.models.providers.replay import events
from tests.adapters.models.wired import a_config
from tests.fakes.network import Network, streamed, whole

ASKED = (UserInput((TextPart("hi"),)),)
UNKNOWN = "{} does not know this model. Look at its name, and at the provider's base URL."
REFUSED = "{} did not accept the request; its own words say why."
MISMATCH = (
    "The conversation no longer matches what the provider expects. Start a new chat to go on."
)
KEY = "{} refused the credentials. Look at the API key and its rights."
UNREADABLE = "{} could not read the call of a tool that its model made."

NAMES = {
    "anthropic": "Anthropic",
    "google": "Google",
    "openai": "OpenAI",
    "azure": "Azure OpenAI",
    "openrouter": "OpenRouter",
    "openai-compat": "OpenAI Compatible",
    "bedrock": "AWS Bedrock",
}
URLS = {"azure": "https://r.openai.azure.com", "openai-compat": "https://api.x.test/v1"}


def provider_of(vendor, network):
    client = HttpClient(network.dial)
    if vendor == "bedrock":
        return BedrockProvider(client, BearerToken("key"), region="us-east-1")
    model = "gemini-x" if vendor == "google" else "m"
    return connect(a_config(vendor, model, base_url=URLS.get(vendor)), client)


async def failure(vendor, response, nursery):
    network = Network(nursery, [[response]])
    async with provider_of(vendor, network).stream(Prompt("m", ASKED)) as batches:
        (*_, last) = [delta async for batch in batches for delta in batch]
    return last.failure


def said(message, **more):
    return {"error": {"message": message, **more}}


def anthropic(kind, message):
    return {"type": "error", "error": {"type": kind, "message": message}}


def google(code, message, status):
    return {"error": {"code": code, "message": message, "status": status}}


# What a person is told, with the kind of failure: the answers of which they are told that.
TOLD = {
    (UNKNOWN, "config"): [
        ("anthropic", 404, anthropic("not_found_error", "model: claude-sonet")),
        (
            "google",
            404,
            google(
                404,
                "models/gemini-x is not found for API version v1beta, or is not supported for"
                " generateContent.",
                "NOT_FOUND",
            ),
        ),
        (
            "google",
            404,
            [google(404, "Publisher Model `projects/p/m` was not found", "NOT_FOUND")],
        ),
        ("bedrock", 400, {"message": "The provided model identifier is invalid."}),
        (
            "bedrock",
            404,
            {"message": "Could not resolve the foundation model from the model identifier."},
        ),
        ("openrouter", 400, said("clod is not a valid model ID", code=400)),
        ("openrouter", 404, said("No endpoints found for x/y.", code=404)),
        (
            "azure",
            404,
            said(
                "The API deployment for this resource does not exist.",
                code="DeploymentNotFound",
            ),
        ),
        ("openai-compat", 404, said('model "x" not found, try pulling it first')),
        ("openai-compat", 400, said("Model Not Exist", code="bad_request")),
        ("openai-compat", 404, {"detail": "Not Found"}),
    ],
    (REFUSED, "generic"): [
        ("anthropic", 400, anthropic("invalid_request_error", "max_tokens: 99999 > 8192")),
        ("google", 400, google(400, "Invalid value at 'x'", "INVALID_ARGUMENT")),
        ("bedrock", 400, {"message": "messages: too many images"}),
        ("openai", 400, said("Unsupported parameter: 'top_p'", type="invalid_request_error")),
        ("openai-compat", 422, said("Input should be a valid string")),
    ],
    (KEY, "auth"): [
        (
            "google",
            400,
            google(400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT"),
        ),
        ("openai-compat", 400, {"error": "Incorrect API key provided: xa***"}),
    ],
    (MISMATCH, "generic"): [
        (
            "openai",
            400,
            said(
                "Item 'rs_1' of type 'reasoning' was provided without its required following item."
            ),
        ),
        (
            "openai",
            404,
            said("Item with id 'rs_1' not found. Items are not persisted when `store` is false."),
        ),
        ("openai-compat", 400, said("No tool output found for tool call call_1.")),
        (
            "anthropic",
            400,
            anthropic(
                "invalid_request_error",
                "messages.2: `tool_use` ids were found without `tool_result` blocks immediately"
                " after: toolu_1.",
            ),
        ),
        (
            "openai-compat",
            400,
            {
                "object": "error",
                "message": "Not the same number of function calls and responses",
            },
        ),
    ],
}
CASES = [(*case, *told) for told, cases in TOLD.items() for case in cases]


@pytest.mark.parametrize(("vendor", "status", "body", "message", "kind"), CASES)
async def test_a_refusal_says_what_is_wrong(
    vendor, status, body, message, kind, autojump_clock, nursery
):
    found = await failure(vendor, whole(json.dumps(body).encode(), status), nursery)

    assert found.message == message.format(NAMES[vendor])
    assert (found.kind.value, found.retryable) == (kind, False)


async def test_the_vendors_words_stand_in_the_detail(autojump_clock, nursery):
    body = json.dumps(anthropic("not_found_error", "model: claude-sonet")).encode()

    found = await failure("anthropic", whole(body, 404), nursery)

    assert found.detail == "model: claude-sonet"


GROQ = {
    "error": {
        "message": "Failed to call a function. Please adjust your prompt.",
        "type": "invalid_request_error",
        "code": "tool_use_failed",
        "failed_generation": '<function=add{"a": 1}</function>',
    }
}


@pytest.mark.parametrize(
    "response",
    [
        pytest.param(whole(json.dumps(GROQ).encode(), 400), id="refused"),
        pytest.param(streamed(events(json.dumps(GROQ).encode())), id="in a stream"),
    ],
)
async def test_a_call_that_the_server_could_not_read_is_asked_for_again(
    response, autojump_clock, nursery
):
    found = await failure("openai-compat", response, nursery)

    assert (found.kind.value, found.retryable) == ("generic", True)
    assert found.message == UNREADABLE.format("OpenAI Compatible")


async def test_a_refusal_without_a_word_stays_unforeseen(autojump_clock, nursery):
    found = await failure("anthropic", whole(b"", 400), nursery)

    assert found.message == "Anthropic answered with an unforeseen error."
