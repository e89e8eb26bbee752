"""The sizes that models are told, and where their pixels lie."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.tools.desktop.geometry import (
    FOR_OPENAI,
    NATIVE,
    ScreenSize,
    from_native,
    size_for_anthropic,
    to_native,
)

SIZES = st.builds(ScreenSize, st.integers(1, 4096), st.integers(1, 2160))
POINTS = st.tuples(st.integers(-10_000, 10_000), st.integers(-10_000, 10_000))


@pytest.mark.parametrize(
    ("native", "told"),
    [
        (NATIVE, ScreenSize(1280, 720)),
        (ScreenSize(1024, 768), ScreenSize(1024, 768)),
        (ScreenSize(1568, 700), ScreenSize(1568, 700)),
        (ScreenSize(1569, 700), ScreenSize(1280, 571)),
        (ScreenSize(1200, 1000), ScreenSize(1024, 853)),  # 1280 would be 1.37 megapixels
        (ScreenSize(1000, 4000), ScreenSize(1024, 4096)),  # nothing fits; the smallest is told
    ],
)
def test_an_anthropic_model_is_told_what_it_sees_unscaled(native, told):
    assert told == size_for_anthropic(native)


@pytest.mark.parametrize(
    ("point", "native"),
    [
        ((0, 0), (0, 0)),
        ((1, 1), (2, 2)),  # 1.5 times 1.5 = 2.25
        ((639, 359), (959, 539)),
        ((1279, 719), (1919, 1079)),
        ((1280, 720), (1919, 1079)),
        ((-1, 5000), (0, 1079)),
    ],
)
def test_a_pixel_is_mapped_by_its_centre_cut_and_moved_inside(point, native):
    assert native == to_native(point, ScreenSize(1280, 720), NATIVE)


@given(POINTS, SIZES, SIZES)
def test_every_point_lies_on_the_screen(point, told, native):
    x, y = to_native(point, told, native)

    assert 0 <= x < native.width
    assert 0 <= y < native.height


@given(st.integers(0, 1599), st.integers(0, 899))
def test_a_point_comes_back_as_a_smaller_model_named_it(x, y):
    assert (x, y) == from_native(to_native((x, y), FOR_OPENAI, NATIVE), FOR_OPENAI, NATIVE)
