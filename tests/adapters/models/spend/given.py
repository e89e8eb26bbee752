"""A chat before a daemon with limits, as administrators and members set it up through the API."""

from tests.adapters.daemon.access_matrix import CHATS
from tests.adapters.edges import eventually

LIMITS, PRICES, USAGE = (
    "/api/v2/ai/limits",
    "/api/experimental/ai/model-prices",
    "/api/v2/ai/usage",
)
DOLLAR = 1_000_000
# Of a million tokens: what the rehearsal says costs thousands of dollars.
DEAR = {"input": "1000", "output": "100000"}


def says(text):
    return {"content": [{"type": "text", "text": text}]}


async def good(asking, status=(200, 201, 204)):
    answer = await asking
    assert answer.status in status, answer.body
    return answer.document if answer.body else None


async def state_price(edge, price=DEAR):
    await good(edge.admin.put(PRICES, {"prices": {}, "default_price": price}))


async def set_limit(edge, scope="user", period="day", *, hard=None, soft=None, subject=None):
    if scope == "user" and subject is None:
        subject = str(edge.member.id)
    limit = {"scope": scope, "period": period, "limit_micros": hard, "soft_limit_micros": soft}
    await good(edge.admin.put(LIMITS, {**limit, **({"subject_id": subject} if subject else {})}))


async def a_chat(edge, text="[[text: good day]] hello", who=None, **more):
    new = {**says(text), "organization_id": edge.organization, **more}
    return (await good((who or edge.member).post(CHATS, new)))["id"]


async def send(edge, chat, text="[[text: good day]] hello"):
    await good(edge.member.post(f"{CHATS}/{chat}/messages", says(text)))


async def at_rest(edge, chat, *statuses):
    """The chat once it has come to rest, in one of these states if any are named."""
    wanted = statuses or ("waiting", "error", "requires_action")

    async def look():
        found = await good(edge.admin.get(f"{CHATS}/{chat}"))
        return found if found["status"] in wanted else None

    return await eventually(look)


async def all_paid(edge, chat):
    """Wait until its first turn is over, and its title made, which costs something as well."""

    async def look():
        found = await good(edge.admin.get(f"{CHATS}/{chat}"))
        return found["status"] == "waiting" and not found["title"].startswith("[[")  # as was said

    await eventually(look)
    await none_reserved(edge)


async def nothing_runs_beside(edge):
    """Wait until the title of a chat whose turn is over has been made, or could not be."""

    async def look():
        return edge.chats.background.statistics().running == 0

    await eventually(look)
    await none_reserved(edge)


async def spend_of(edge, who=None):
    return await good((who or edge.member).get("/api/v2/users/me/ai/spend"))


async def reservations(edge):
    return await edge.execute("SELECT id, micros, what FROM spend_reservations")


async def none_reserved(edge):
    async def look():
        return not await reservations(edge)

    await eventually(look)
