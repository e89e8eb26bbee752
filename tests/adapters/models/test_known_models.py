"""The models that vendors are known to have."""

from adapters.models.routes.known_models import KnownModels


async def test_models_of_a_vendor_are_known_by_name_and_limit():
    known = KnownModels()

    found = {each.model: each for each in await known.of("anthropic")}

    assert ("Claude Haiku 4.5", 200_000) == (
        found["claude-haiku-4-5"].display_name,
        found["claude-haiku-4-5"].context_limit,
    )
    assert () == await known.of("openai-compat")
