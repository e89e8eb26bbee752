"""What is kept of an answer that was cut short. Pure.

Text and thoughts are kept as far as they had come. A call is kept if its arguments are whole and
valid; what is left of a call nobody could execute is dropped. What then still lacks a result is
closed by the law when the interruption is finished.
"""

from datetime import datetime

from actors.law.chat import Body, Role
from actors.law.ids import ModelConfigId
from actors.law.parts.assemble import Assembly
from actors.law.parts.message import CUT_SHORT, FilePart, Part, ToolCallPart


def partial_rows(
    answer: Assembly,
    *,
    now: datetime,
    runtime_ms: int,
    model_config_id: ModelConfigId | None,
    is_booked: bool = False,
) -> tuple[Body, ...]:
    """One assistant message, if there is anything to keep. `is_booked`: somebody has written down
    what it cost."""
    parts = tuple(part for part in answer.cut_short(now) if _is_whole(part))
    if not parts:
        return ()
    is_billed = not all(isinstance(part, FilePart) for part in parts)
    body = Body(
        Role.ASSISTANT,
        parts,
        model_config_id=model_config_id,
        runtime_ms=(runtime_ms or None) if is_billed else None,
        cost=CUT_SHORT if is_billed and not is_booked else None,
    )
    return (body,)


def _is_whole(part: Part) -> bool:
    return not isinstance(part, ToolCallPart) or bool(part.id and part.args)
