"""What is set, as it is stored and as it is read."""

from uuid import UUID

import pytest

from actors.law.ids import ModelConfigId
from adapters.models.prompt_texts import DEFAULT_SYSTEM_PROMPT
from adapters.models.settings import (
    ADVISOR,
    INCLUDE_DEFAULT_SYSTEM_PROMPT,
    SYSTEM_PROMPT,
    AdvisorSettings,
    DeploymentSettings,
    Override,
    UserOverride,
    UserSettings,
    override_name,
    override_text,
    own_override_text,
    threshold_name,
)

ID = ModelConfigId(UUID(int=7))


@pytest.mark.parametrize(
    ("stored", "override"),
    [
        (None, Override()),
        ("", Override()),
        (override_text(ID, None), Override(ID)),
        (override_text(ID, "high"), Override(ID, "high")),
        ("rubbish", Override(is_malformed=True)),
        (f"{ID}:enormous", Override(is_malformed=True)),
        (42, Override(is_malformed=True)),
    ],
)
def test_a_model_that_stands_in_for_another(stored, override):
    assert override == DeploymentSettings({override_name("general"): stored}).override("general")


@pytest.mark.parametrize(
    ("stored", "advisor"),
    [
        ({}, AdvisorSettings()),
        ({"model_config_id": str(UUID(int=0))}, AdvisorSettings()),
        ({"model_config_id": "rubbish"}, AdvisorSettings()),
        (
            {
                "max_uses_per_run": 3,
                "max_output_tokens": 9,
                "model_config_id": str(ID),
                "reasoning_effort": "low",
            },
            AdvisorSettings(3, 9, Override(ID, "low")),
        ),
    ],
)
def test_who_is_asked_for_advice_and_how_often(stored, advisor):
    assert advisor == DeploymentSettings({ADVISOR: stored}).advisor


@pytest.mark.parametrize(
    ("context", "stored", "override"),
    [
        ("root", None, UserOverride("chat_default")),
        ("general", None, UserOverride("deployment_default")),
        ("general", "chat_default", UserOverride("chat_default", is_set=True)),
        (
            "explore",
            own_override_text("model", ID, "low"),
            UserOverride("model", Override(ID, "low"), is_set=True),
        ),
        (
            "root",
            "deployment_default",
            UserOverride("chat_default", Override(is_malformed=True), is_set=True),
        ),
        ("root", "model:x", UserOverride("chat_default", Override(is_malformed=True), is_set=True)),
        ("root", "rubbish", UserOverride("chat_default", Override(is_malformed=True), is_set=True)),
    ],
)
def test_a_users_own_choice(context, stored, override):
    values = {} if stored is None else {override_name(context): stored}

    assert override == UserSettings(values).override(context)


@pytest.mark.parametrize(
    ("prompt", "included", "said"),
    [
        (None, None, DEFAULT_SYSTEM_PROMPT),
        ("ours", None, "ours"),
        ("ours", True, f"{DEFAULT_SYSTEM_PROMPT}\n\nours"),
        ("ours", False, "ours"),
        ("", False, ""),
    ],
)
def test_what_every_new_chat_begins_with(prompt, included, said):
    values = {SYSTEM_PROMPT: prompt, INCLUDE_DEFAULT_SYSTEM_PROMPT: included}
    known = {name: value for name, value in values.items() if value is not None}

    assert said == DeploymentSettings(known).system_prompt


@pytest.mark.parametrize(
    ("stored", "counts"),
    [(0, 0), (100, 100), ("0", 0), ("100", 100)]
    + [(each, None) for each in ("", "-1", "101", "abc", None, 101, -1, 50.5, True)],
)
def test_a_threshold_that_is_no_percentage_is_passed_over(stored, counts):
    assert counts == UserSettings({threshold_name(ID): stored}).thresholds.get(ID)


def test_thresholds_are_found_by_their_models():
    values = {threshold_name(ID): 50, "custom_prompt": "x"}

    assert {ID: 50} == UserSettings(values).thresholds
