"""How often somebody may ask for the same."""

import trio

from adapters.http.door import WINDOW_SECONDS, RateCounts


async def test_within_a_minute_only_so_often_and_then_again(autojump_clock):
    rates = RateCounts()

    def asked(who="ann", what="row"):
        return rates.seconds_to_wait(who, what, 2)

    assert [0, 0] == [asked(), asked()]
    assert WINDOW_SECONDS == asked()
    await trio.sleep(20)
    assert WINDOW_SECONDS - 20 == asked()
    assert [0, 0] == [asked(who="bob"), asked(what="other")]
    await trio.sleep(WINDOW_SECONDS - 20)
    assert 0 == asked()


async def test_a_rate_of_none_is_never_reached():
    rates = RateCounts()

    assert {0} == {rates.seconds_to_wait("ann", "row", 0) for _ in range(100)}


async def test_over_the_bound_whoever_is_new_is_not_counted_and_who_was_counted_still_is():
    rates = RateCounts(counts_max=1)
    rates.seconds_to_wait("ann", "row", 1)

    assert [0, 0] == [rates.seconds_to_wait("bob", "row", 1) for _ in range(2)]
    assert rates.seconds_to_wait("ann", "row", 1)
