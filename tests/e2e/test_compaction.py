"""A conversation that is being summed up while its process is killed or told to stop."""

import signal

import pytest

from actors.law.chat import Role, Visibility
from actors.law.requests import RequestCompaction
from tests.e2e.clients import a_client
from tests.e2e.daemons import a_daemon, holder_among
from tests.e2e.providers import a_provider

pytestmark = pytest.mark.slow

AWAY = {"PROMPTCORNER_DRAIN_SECONDS": "0"}
SLOWLY = ("--deltas", "40", "--delta-ms", "50")  # two seconds, for a summary as for an answer


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
async def test_another_process_makes_the_summary_once_and_whole(home, database, how):
    with a_provider(*SLOWLY) as provider:
        settings = {**AWAY, **provider.settings, "DATABASE_URL": database}
        with a_daemon(home, **settings) as one, a_daemon(home, **settings) as two:
            for each in (one, two):
                each.wait_ready()
            async with a_client(database) as client:
                chat = await client.create("[[text: Yes.]] is it?", title="it")
                await client.answer(chat)
                asked = len(provider.requests(chat))

                await client.ask(chat, RequestCompaction())
                await provider.asked(chat, times=asked + 1)
                holder = (await client.view(chat)).chat.holder
                holding = holder_among((one, two), holder.worker)
                if how == signal.SIGKILL:
                    holding.kill()
                else:
                    holding.process.send_signal(how)
                await provider.asked(chat, times=asked + 2)
                stored = await client.until(chat, "waiting", "error")

                rows = [row.body for row in await client.history(chat) if row.body.compressed]
                assert ("waiting", None) == (
                    stored.chat.status.value,
                    stored.chat.compaction_requested_at,
                )
                kinds = [(row.role, row.visibility) for row in rows]
                assert [
                    (Role.USER, Visibility.MODEL),
                    (Role.ASSISTANT, Visibility.USER),
                    (Role.TOOL, Visibility.BOTH),
                ] == kinds
                assert asked + 2 == len(provider.requests(chat))
