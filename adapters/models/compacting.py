"""When a chat is compacted, and by which model: as its model is configured, its owner has set, and
an administrator has set for all."""

from actors.chat.turn.ports import CompactionPlan, Model
from actors.law.chat import Chat
from adapters.models.catalogue import Catalogue
from adapters.models.contents import THRESHOLD_USUAL


class ConfiguredCompacting:
    """Fulfils `actors.chat.turn.ports.Compacting`."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    async def plan_for(self, chat: Chat, model: Model) -> CompactionPlan:
        contents = await self._catalogue.contents()
        own = await self._catalogue.own(chat.owner_id)
        threshold = THRESHOLD_USUAL
        if model.config_id is not None:
            if (listed := contents.models.get(model.config_id)) is not None:
                threshold = listed.compression_threshold
            threshold = own.settings.thresholds.get(model.config_id, threshold)
        summarising = self._catalogue.overridden("compaction", chat, model)
        limits = [limit for limit in (model.context_limit, summarising.context_limit) if limit]
        return CompactionPlan(summarising, threshold, min(limits, default=None))
