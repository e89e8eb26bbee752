"""A named request over a network that breaks at any byte: repeated until it is answered, it has
been served once."""

import pytest
import trio

from adapters.postgres.driver.timeouts import Timeouts
from tests.adapters.chats.overviews.ground import a_ground
from tests.fakes.severed_network import severed_network
from tests.patience import PATIENCE_SECONDS

POINTS = 12  # moments of each direction at which the connection breaks

pytestmark = pytest.mark.slow


def named(key):
    return [("idempotency-key", key)]


@pytest.mark.parametrize("way", ["to_server", "to_client"])
async def test_a_chat_is_created_once_wherever_the_connection_breaks(migrated, way):
    async with (
        severed_network(migrated) as network,
        a_ground(
            migrated, through=network.conninfo, size=1, timeouts=Timeouts(lock_seconds=0.3)
        ) as ground,
    ):
        await ground.create(headers=named("warm"))
        network.release()
        await ground.create(headers=named("counted"))
        whole = getattr(network, way)
        outcomes = set()
        for point in range(POINTS):
            network.cut_after(**{way: whole * point // POINTS})
            answers = [await ground.create(headers=named(f"cut {point}"))]
            network.release()
            with trio.fail_after(PATIENCE_SECONDS):  # for the server to see that the line is cut
                while answers[-1].status == 503:
                    answers.append(await ground.create(headers=named(f"cut {point}")))
            again = await ground.create(headers=named(f"cut {point}"))

            assert 201 == answers[-1].status, answers
            assert again.body == answers[-1].body
            assert point + 3 == len(await ground.store.all_rows())
            outcomes.add(answers[0].status)

    assert {201, 503} >= outcomes
    assert 503 in outcomes, "some were cut off"
