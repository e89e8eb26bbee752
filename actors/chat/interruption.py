"""Task: end a turn that somebody interrupted. What was said is kept, what is open is closed."""

from actors.chat.partials import partial_rows
from actors.episodes.buffer import Episode
from actors.ids import EpisodeKey
from actors.machine.chat import Body, Chat
from actors.machine.requests import FinishInterruption
from actors.turn.commits import Committed, commit
from actors.turn.work import Held
from actors.turn.world import World
from runtime.clock import now, wall


async def interrupt(held: Held, world: World) -> Committed:
    chat = held.stored.chat
    key = EpisodeKey(chat.id, chat.history_version, chat.generation_attempt)
    episode = world.episodes.find(key)  # none: nothing was asked yet, or another process asked
    kept = () if episode is None else _kept(episode, chat)
    return await commit(held, [FinishInterruption(kept, gives_back=True)], world)


def _kept(episode: Episode, chat: Chat) -> tuple[Body, ...]:
    """What a model had said, or the results of the tools that had ended."""
    if episode.answer is None or episode.asked_model_at is None:
        return episode.results
    ended = now() if episode.closed_at is None else episode.closed_at
    return partial_rows(
        episode.answer,
        now=wall(),
        runtime_ms=round((ended - episode.asked_model_at) * 1000),
        model_config_id=chat.last_model_config_id,
    )
