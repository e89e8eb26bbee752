"""A plugin with two tools and a provider of models, none of which needs a network.

The tools tell the weather from a table. The provider is a parrot: it says again what it was told
last, but asked for "the weather in CITY" it calls the tool.
"""

import json
import re
from collections.abc import AsyncGenerator, Sequence
from typing import Annotated, Literal

import trio

from promptcorner import ext

PROMPTCORNER_API = 1

FORECASTS = {"Oslo": ("snow", -4), "Lisbon": ("sun", 17), "Cork": ("rain", 9)}
_remembered: dict[str, str] = {}


@ext.tool(repeatable=True, consent="never", seconds=10)
async def weather(
    city: Annotated[str, ext.Meta(description="A city, by its English name.")],
    unit: Literal["celsius", "fahrenheit"] = "celsius",
) -> dict[str, object]:
    """Tell tomorrow's weather in a city."""
    await trio.sleep(0.01)  # where a real one would ask a service
    if city not in FORECASTS:
        raise ext.ToolFailure(f"there is no forecast for {city}, only for {', '.join(FORECASTS)}")
    sky, degrees = FORECASTS[city]
    return {"sky": sky, "degrees": degrees if unit == "celsius" else degrees * 9 // 5 + 32}


@ext.tool(consent="always")
async def report_weather(city: str, sky: str, context: ext.ToolContext) -> str:
    """Correct the forecast of a city for everybody. A person is always asked before."""
    if context.seconds_since_begun and _remembered.get(context.call_id) == city:
        return "this correction was made before"
    degrees = FORECASTS.get(city, ("", 10))[1]
    FORECASTS[city] = (sky, degrees)
    _remembered[context.call_id] = city
    return f"{city} has {sky} from now on"


tools = [weather, report_weather]


class Parrot(ext.ModelProvider):
    """Answers without a model: for trying things out."""

    name = "parrot"
    models: Sequence[ext.PluginModel] = (ext.PluginModel("grey", context_limit=8_000),)

    async def stream(self, prompt: ext.Prompt) -> AsyncGenerator[ext.Delta, None]:
        """Say again what was said last, word by word."""
        said = _last_words(prompt)
        call = _call(prompt, said)
        if call is not None:
            yield call
            yield ext.AnswerFinished(ext.FinishReason.TOOL_CALLS)
            return
        for word in said.split():
            await trio.sleep(0.001)
            yield ext.TextDelta("text", f"{word} ")
        yield ext.TextEnded("text")
        yield ext.AnswerFinished(
            ext.FinishReason.STOP, ext.TokenUsage(input_tokens=1, output_tokens=len(said.split()))
        )


def _last_words(prompt: ext.Prompt) -> str:
    match prompt.messages[-1]:
        case ext.UserInput(parts):
            return " ".join(part.text for part in parts if isinstance(part, ext.TextPart))
        case ext.ToolResults(answers):
            return " ".join(answer.text for answer in answers)
        case _:
            return ""


def _call(prompt: ext.Prompt, said: str) -> ext.ToolCall | None:
    """Return the call that the words ask for, if there is such a tool in this turn."""
    if not isinstance(prompt.messages[-1], ext.UserInput):
        return None
    offered = {tool.name for tool in prompt.tools}
    number = len(prompt.messages)  # makes the id of a call the only one of its chat
    if found := re.search(r"weather in (\w+)", said):
        name, arguments = "weather", {"city": found[1]}
    elif found := re.search(r"(\w+) has (\w+) now", said):
        name, arguments = "report_weather", {"city": found[1], "sky": found[2]}
    else:
        return None
    if name not in offered:
        return None
    return ext.ToolCall(f"call-{number}", name, ext.JsonText(json.dumps(arguments)))
