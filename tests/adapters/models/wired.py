"""Chats whose model is asked over a vendor's real wire: from bytes to rows, without a daemon."""

import json
from contextlib import asynccontextmanager
from uuid import uuid4

import trio

from actors.law.ids import ModelConfigId
from adapters.models.connecting import connect_model
from adapters.models.prompting import Prompting, TurnContext
from adapters.models.provider_config import ModelConfig, ProviderConfig
from adapters.models.providers.http import HttpClient
from tests.actors.chat.stage import a_chat_at_work
from tests.fakes.network import Network


class WiredModels:
    """The port Models, with one model whose provider is spoken to over a network in memory."""

    def __init__(self, config, network):
        self.model = connect_model(config, HttpClient(network.dial))

    async def model_for(self, chat):
        await trio.lowlevel.checkpoint()
        return self.model


class OneSource:
    """The port TurnContexts: every message came from the provider that is asked."""

    def __init__(self, identity):
        self.identity = identity

    async def turn_context(self, chat):
        return TurnContext((), lambda model: self.identity)


class NoFiles:
    """The port PromptFileReader of chats without files."""

    async def read(self, wanted):
        return {}


def a_config(vendor, model, *, base_url=None, **settings):
    provider = ProviderConfig(uuid4(), vendor, vendor, "sk-of-a-test", base_url)
    return ModelConfig(ModelConfigId(uuid4()), provider, model, **settings)


@asynccontextmanager
async def a_wired_chat(config, *answers, **more):
    """A chat at work; `answers` are what the vendor sends to one request after the other.

    Yields the stage and the network, which has the requests.
    """
    async with trio.open_nursery() as nursery:
        network = Network(nursery, [list(answer) for answer in answers])
        models = WiredModels(config, network)
        prompts = Prompting(OneSource(models.model.identity), NoFiles())
        async with a_chat_at_work(None, models=models, prompts=prompts, **more) as stage:
            yield stage, network
        nursery.cancel_scope.cancel()


def sent(network):
    """The bodies of the requests, in order."""
    return [json.loads(request.body) for request in network.requests]
