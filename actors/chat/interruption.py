"""Task: end a turn that somebody interrupted. What was said is kept, what is open is closed."""

from actors.chat.partials import partial_rows
from actors.episodes.buffer import Episode
from actors.ids import EpisodeKey
from actors.machine.closing import outstanding
from actors.machine.requests import FinishInterruption
from actors.turn.commits import Committed, commit
from actors.turn.work import Held
from actors.turn.world import World
from runtime.clock import now


async def interrupt(held: Held, world: World) -> Committed:
    chat = held.stored.chat
    key = EpisodeKey(chat.id, chat.history_version, chat.generation_attempt)
    episode = world.episodes.find(key)  # none: nothing was asked yet, or another process asked
    partials = (
        ()
        if episode is None
        else partial_rows(
            episode.said,
            open_calls={call.id for call in outstanding(held.stored.tail)},
            now=held.stored.now,
            runtime_ms=_runtime_ms(episode),
            model_config_id=chat.last_model_config_id,
        )
    )
    return await commit(held, [FinishInterruption(partials, gives_back=True)], world)


def _runtime_ms(episode: Episode) -> int | None:
    """How long the model was at work; None if none was asked."""
    if episode.asked_model_at is None:
        return None
    ended = now() if episode.closed_at is None else episode.closed_at
    return round((ended - episode.asked_model_at) * 1000)
