"""Given-helpers: providers and models as somebody set them up, with ids that tell them apart."""

from uuid import uuid4

from actors.law.parts.message import TextPart
from actors.law.parts.prompt import Prompt, UserInput
from adapters.models.provider_config import ModelConfig, ProviderConfig, named_model
from adapters.models.providers.bedrock.aws import BearerToken


def a_config(type="anthropic", model="claude-sonnet-4-5", *, base_url=None, **more):
    bedrock = (
        {"credentials": BearerToken("token"), "region": "eu-west-1"} if type == "bedrock" else {}
    )
    provider = ProviderConfig(uuid4(), type, type, "key", base_url, **bedrock)
    return ModelConfig(named_model(type, model), provider, model, **more)


def hello(model="m"):
    return Prompt(model, (UserInput((TextPart("hello"),)),))
