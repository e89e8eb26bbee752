"""What a step costs: known, by an administrator's price or the bundled table; or unknown."""

import subprocess
import sys
from decimal import Decimal

import pytest

from actors.chat.turn.ports import Model
from actors.law.parts.message import NO_USAGE, UNPRICED, Cost, TokenUsage
from actors.law.parts.prompt import CallSettings
from adapters.models.costs import ModelPrices, Price, StatedPrices, load_table

MILLION = 1_000_000
ONE_EACH = TokenUsage(input_tokens=MILLION, output_tokens=MILLION)
WITH_CACHE = TokenUsage(
    input_tokens=MILLION,
    output_tokens=MILLION,
    cache_creation_tokens=MILLION,
    cache_read_tokens=MILLION,
)


def a_model(name):
    label, _, model = name.partition("/")
    return Model(None, None, "me", label, model, CallSettings())


def costs(dollars):
    """A look-up that knows one price for everything, and what it was asked."""
    asked = []

    def lookup(provider, model, usage):
        asked.append((provider, model))
        return None if dollars is None else Decimal(dollars)

    return ModelPrices(lookup), asked


def stated(name, price):
    return lambda: StatedPrices({name: price})


@pytest.fixture(scope="module")
def table():
    """The real one; it takes half a second."""
    import trio

    return ModelPrices(trio.run(load_table))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "usage", "dollars"),
    [
        ("anthropic/claude-3-5-haiku-20241022", ONE_EACH, "4.80"),
        ("openai/gpt-4o", ONE_EACH, "12.50"),
        ("azure/gpt-4o", ONE_EACH, "12.50"),
        ("google/gemini-2.0-flash", ONE_EACH, "0.50"),
        ("openrouter/openai/gpt-4o", ONE_EACH, "12.50"),
        # 0.80 in, 4.00 out, 1.00 into the cache, 0.08 out of it
        ("anthropic/claude-3-5-haiku-20241022", WITH_CACHE, "5.88"),
    ],
)
def test_what_the_table_knows_is_priced_by_it(name, usage, dollars, table):
    assert Cost(int(Decimal(dollars) * MILLION), "table") == table.cost(a_model(name), usage)


@pytest.mark.slow
@pytest.mark.parametrize("geography", ["", "us.", "eu.", "apac.", "us-gov.", "global."])
def test_models_of_bedrock_are_known_by_their_names_there(geography, table):
    model = a_model(f"bedrock/{geography}anthropic.claude-3-5-haiku-20241022-v1:0")

    cost = table.cost(model, ONE_EACH)

    assert "table" == cost.source
    assert cost.micros >= 4_800_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "us.amazon.nova-pro-v1:0",
        "meta.llama3-3-70b-instruct-v1:0",
        "openai.gpt-oss-120b-1:0",
        "us.deepseek.r1-v1:0",
    ],
)
def test_models_of_other_makers_at_bedrock_have_prices(name, table):
    assert "table" == table.cost(a_model(f"bedrock/{name}"), ONE_EACH).source


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "anthropic/claude-of-tomorrow",
        "openai/my-own",
        "nobody/gpt-4o",
        "openrouter/openrouter/auto",
        "openai-compat/gpt-4o",  # whoever sells it under this name asks what he likes
        "vercel/openai/gpt-4o",
        "openai/whisper-1",  # priced by the hour: the table has no price for tokens
    ],
)
def test_what_nobody_knows_is_unknown_and_never_free(name, table):
    assert UNPRICED == table.cost(a_model(name), ONE_EACH)


@pytest.mark.slow
def test_counts_that_cannot_be_are_unknown_too(table):
    negative = TokenUsage(input_tokens=-5, output_tokens=MILLION)

    assert UNPRICED == table.cost(a_model("openai/gpt-4o"), negative)


@pytest.mark.parametrize(
    "usage",
    [
        NO_USAGE,
        TokenUsage(total_tokens=10),
        TokenUsage(output_tokens=10),
        TokenUsage(input_tokens=10),
        TokenUsage(cache_read_tokens=10),
    ],
)
def test_a_part_of_what_was_used_is_no_basis_for_a_price(usage):
    prices, asked = costs("1")
    own = ModelPrices(lambda *_: None, stated("openai/gpt-4o", Price(Decimal(1), Decimal(1))))

    assert UNPRICED == prices.cost(a_model("openai/gpt-4o"), usage)
    assert UNPRICED == own.cost(a_model("openai/gpt-4o"), usage)
    assert [] == asked


@pytest.mark.parametrize("dollars", [None, "0"])
def test_a_price_of_nothing_in_the_table_is_no_price(dollars):
    prices, _ = costs(dollars)

    assert UNPRICED == prices.cost(a_model("openai/gpt-4o"), ONE_EACH)


def test_bedrock_is_aws_in_the_table_and_everybody_else_is_called_the_same():
    prices, asked = costs("1")

    for name in ("bedrock/anthropic.claude", "azure/gpt-5", "google/gemini-2.5-pro"):
        prices.cost(a_model(name), ONE_EACH)

    assert [("aws", "anthropic.claude"), ("azure", "gpt-5"), ("google", "gemini-2.5-pro")] == asked


@pytest.mark.parametrize(
    ("price", "dollars"),
    [
        (Price(Decimal(3), Decimal(15)), 3 + 15 + 3 + 3),
        (Price(Decimal(3), Decimal(15), cache_read=Decimal("0.5")), 3 + 15 + 3 + 0.5),
        (Price(Decimal(3), Decimal(15), Decimal("0.5"), Decimal(6)), 3 + 15 + 6 + 0.5),
        (Price(Decimal(3), Decimal(15), Decimal(0), Decimal(0)), 3 + 15),
        (Price(Decimal(0), Decimal(0)), 0),  # who says so knows that it is free
    ],
)
def test_an_administrators_price_goes_before_the_table(price, dollars):
    prices = ModelPrices(lambda *_: Decimal(99), stated("vercel/openai/gpt-5", price))

    cost = prices.cost(a_model("vercel/openai/gpt-5"), WITH_CACHE)

    assert Cost(int(dollars * MILLION), "override") == cost


def test_an_administrators_price_is_for_that_provider_only():
    own = stated("openai/gpt-5", Price(Decimal(1), Decimal(1)))
    prices = ModelPrices(lambda *_: Decimal(99), own)

    assert Cost(99 * MILLION, "table") == prices.cost(a_model("azure/gpt-5"), ONE_EACH)


def test_thoughts_have_a_price_of_their_own_if_one_is_stated():
    own = Price(Decimal(1), Decimal(10), reasoning=Decimal(2))
    prices = ModelPrices(lambda *_: None, stated("a/b", own))
    usage = TokenUsage(input_tokens=0, output_tokens=MILLION, reasoning_tokens=MILLION // 2)

    assert Cost(6 * MILLION, "override") == prices.cost(a_model("a/b"), usage)


def test_a_model_without_a_price_has_the_default_one_if_there_is_one():
    own = StatedPrices(default=Price(Decimal(1), Decimal(2)))
    known = ModelPrices(lambda *_: Decimal(99), lambda: own)
    unknown = ModelPrices(lambda *_: None, lambda: own)

    assert Cost(99 * MILLION, "table") == known.cost(a_model("openai/gpt-4o"), ONE_EACH)
    assert Cost(3 * MILLION, "default") == unknown.cost(a_model("openai/gpt-4o"), ONE_EACH)


def test_parts_of_a_millionth_are_rounded():
    prices = ModelPrices(lambda *_: None, stated("a/b", Price(Decimal("0.4"), Decimal("0.4"))))

    assert 1 == prices.cost(a_model("a/b"), TokenUsage(1, 1)).micros
    assert 0 == prices.cost(a_model("a/b"), TokenUsage(1, 0)).micros


@pytest.mark.slow
def test_the_table_is_not_loaded_before_it_is_asked_for():
    program = "import sys, adapters.models.costs; print('genai_prices' in sys.modules)"

    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert "False" == said.stdout.strip()
