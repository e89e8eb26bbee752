"""Which models of AWS speak Converse, by the ways in which they are named."""

import pytest

from adapters.models.providers.facts.bedrock import speaks_converse

ARN = "arn:aws:bedrock:us-east-1:123456789012"


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("anthropic.claude-sonnet-4-5-20250929-v1:0", False),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", False),
        (f"{ARN}:inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0", False),
        (f"{ARN}:default-prompt-router/anthropic.claude:1", False),
        ("amazon.nova-pro-v1:0", True),
        ("us-gov.amazon.nova-lite-v1:0", True),
        ("eu.mistral.pixtral-large-2502-v1:0", True),
        ("openai.gpt-oss-120b-1:0", True),
        ("global.amazon.nova-2-lite-v1:0", True),
        ("newmaker.model", True),
        ("arn:aws:bedrock:us-east-1::foundation-model/meta.llama3-3-70b-instruct-v1:0", True),
        (f"{ARN}:inference-profile/us.deepseek.r1-v1:0", True),
        (f"{ARN}:imported-model/abcdefghijkl", True),
        (f"{ARN}:custom-model-deployment/abcdefghijkl", True),
        ("arn:aws:sagemaker:us-east-1:123456789012:endpoint/mine", True),
        (f"{ARN}:application-inference-profile/abcdefghijkl", False),
        (f"{ARN}:provisioned-model/abcdefghijkl", False),
        ("my-claude", False),
        ("m", False),
    ],
)
def test_models_of_other_makers_speak_converse(model, expected):
    assert speaks_converse(model) is expected
