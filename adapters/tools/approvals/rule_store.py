"""Rules of consent in PostgreSQL, the deployment's and those of users, and what a process knows.

What has changed is forgotten as soon as this process hears of it, and after a while in any case.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from uuid import UUID

from actors.law.ids import UserId
from actors.law.store.hints import CatalogueChanged, HintsLost, News, Tell
from actors.law.store.ports import Bus
from actors.tools.approval_rules import RULES_MAX, ApprovalRule, Place, Policy, read_rule
from adapters.postgres.codec.parts import storable_text
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL, Record
from adapters.settings.caching import Cache, CacheStatistics
from runtime.log import emit

KEEP_SECONDS = 10.0  # then rules are read again, in case news of a change got lost
USERS_MAX = 16_384  # of whom rules are kept; the one not asked about for longest is forgotten


class ConsentRuleRow(Record, frozen=True):
    """A stored rule, and who wrote it."""

    id: UUID
    subject: str
    policy: str
    changed_by: str | None
    changed_at: datetime


class ConsentRuleStore:
    """The stored rules of one deployment and of its users; fulfils
    `actors.tools.approvals.StoredRules`, by a look into the database each time."""

    def __init__(self, pool: Pool, *, tell: Tell) -> None:
        self._pool = pool
        self._tell = tell

    async def of(self, owner: UserId) -> tuple[ApprovalRule, ...]:
        """Return the rules that hold in the chats of a user."""
        async with self._pool.connection() as connection:
            rows = await connection.execute(SQL["consent_rules_in_force"], {"user": owner})
        found = (_rule(subject, policy, is_deployments) for is_deployments, subject, policy in rows)
        return tuple(rule for rule in found if rule is not None)

    async def list(self, user: UserId | None) -> Sequence[ConsentRuleRow]:
        """Return the rules of a user, or those of the deployment."""
        async with self._pool.connection() as connection:
            rows = await connection.execute(SQL["consent_rules"], {"user": user})
        return [ConsentRuleRow.of(row) for row in rows]

    async def put(
        self, user: UserId | None, subjects: Sequence[str], policy: Policy, by: UserId
    ) -> bool:
        """Write rules about these subjects, in place of older ones; return False if there would be
        more than RULES_MAX."""
        putting = {
            "user": user,
            "subjects": [storable_text(subject) for subject in subjects],
            "policy": policy.value,
            "by": by,
            "max": RULES_MAX,
        }
        async with self._pool.connection() as connection:
            written = await connection.execute(SQL["put_consent_rules"], putting)
        if written:
            self._tell(CatalogueChanged(user))
        return bool(written)

    async def remove(self, user: UserId | None, id: UUID) -> bool:
        """Remove a rule; return whether there was one."""
        async with self._pool.connection() as connection:
            removed = await connection.execute(SQL["remove_consent_rule"], {"user": user, "id": id})
        if removed:
            self._tell(CatalogueChanged(user))
        return bool(removed)


class KnownConsentRules:
    """The rules that this process knows. Fulfils `actors.tools.approvals.StoredRules`.

    It follows the bus as long as it is used.
    """

    def __init__(self, stored: ConsentRuleStore) -> None:
        self.stored = stored
        self._rules: Cache[UserId, tuple[ApprovalRule, ...]] = Cache(
            stored.of, keep_seconds=KEEP_SECONDS, max_entries=USERS_MAX
        )

    @contextmanager
    def follow(self, bus: Bus) -> Iterator[None]:
        with bus.follow(self.hear, CatalogueChanged):
            yield

    def hear(self, news: News) -> None:
        match news:
            case CatalogueChanged(user=UUID() as user):
                self._rules.drop(UserId(user))
            case CatalogueChanged() | HintsLost():
                self._rules.drop_all()
            case _:
                pass

    async def of(self, owner: UserId) -> tuple[ApprovalRule, ...]:
        return await self._rules.get(owner)

    def statistics(self) -> CacheStatistics:
        return self._rules.statistics()


def _rule(subject: str, policy: str, is_deployments: bool) -> ApprovalRule | None:
    """Return a stored rule. One that this program cannot read denies all calls of its tool if it
    denies or asks, and is left out if it allows: a newer program has written it."""
    place: Place = "deployment" if is_deployments else "user"
    try:
        return read_rule(f"{subject}={policy}", place)
    except ValueError as error:
        emit("consent.rule_unreadable", "warning", subject=subject, why=str(error))
        if policy == Policy.ALLOW.value:
            return None
        return ApprovalRule(subject.partition("(")[0], Policy(policy), "", place)
