"""The plugin passes the checks that the daemon's own parts pass: pytest examples/weather."""

from functools import partial

import trio
from promptcorner_example_weather import Parrot, report_weather, weather

from promptcorner.ext.testing import check_provider, check_tool


def test_the_forecast():
    check = partial(
        check_tool,
        weather,
        works=[{"city": "Oslo"}, {"city": "Cork", "unit": "fahrenheit"}],
        refused=[{}, {"city": "Atlantis"}, {"city": "Oslo", "unit": "kelvin"}],
    )
    trio.run(check)


def test_the_correction():
    trio.run(partial(check_tool, report_weather, works=[{"city": "Cork", "sky": "sun"}]))


def test_the_provider():
    trio.run(check_provider, Parrot())
