"""What is set aside under limits, against a model of the rules, on PostgreSQL with several
connections; what processes that died leave behind; and the borders of periods."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from math import ceil
from uuid import UUID, uuid4

import psycopg
import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from actors.chat.turn.spending import OverLimit, WhyRefused, period_start
from actors.law.parts.message import Cost, Reservation
from adapters.models.costs import Price, SideCosts
from adapters.models.spend.store import NIL, CallToReserve, SpendStore
from adapters.postgres.driver.faults import DatabaseBusy
from adapters.postgres.driver.pool import Pool
from tests.adapters.edges import eventually
from tests.patience import PATIENCE_SECONDS

ANN, BOB = UUID(int=1), UUID(int=2)
CHATS = {ANN: UUID(int=11), BOB: UUID(int=12)}
ALIVE, DYING = UUID(int=21), UUID(int=22)
NOON = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)
LEASE_SECONDS = 3600.0  # longer than any test takes


def emptied(conninfo):
    with psycopg.connect(conninfo, autocommit=True) as connection:
        for table in ("spend_limits", "spend_counters", "spend_reservations", "spend_days"):
            connection.execute(f"DELETE FROM {table}")
        for table in ("chats", "workers", "users"):
            connection.execute(f"DELETE FROM {table}")
        for user, chat in CHATS.items():
            connection.execute(
                "INSERT INTO users (id, username) VALUES (%s, %s)", (user, str(user))
            )
            connection.execute(
                "INSERT INTO chats (id, owner_id, status, snapshot_version, history_version,"
                " queue_version, retry_state_version, generation_attempt)"
                " VALUES (%s, %s, 'waiting', 1, 1, 0, 0, 0)",
                (chat, user),
            )
        for worker in (ALIVE, DYING):
            connection.execute("INSERT INTO workers (id) VALUES (%s)", (worker,))


@dataclass
class Ground:
    """A store on a pool of connections."""

    pool: Pool
    store: SpendStore = field(init=False)

    def __post_init__(self):
        self.store = SpendStore(self.pool, lease_seconds=LEASE_SECONDS)

    async def reserve(self, user=ANN, micros=10, *, at=NOON, worker=ALIVE, asks=True, id=None):
        call = CallToReserve(id or uuid4(), CHATS[user], "answer", "a/b", micros, asks, worker, at)
        return await self.store.reserve(call, None)

    async def settle(self, reservation, micros):
        cost = Cost(micros, "table", reservation)
        await SideCosts(self.pool).add(CHATS[UUID(int=reservation.user.int)], "answer", [cost])

    async def limit(self, scope="user", subject=ANN, period="day", *, hard=None, soft=None):
        await self.store.put_limit(scope, subject, period, hard_micros=hard, soft_micros=soft)

    async def die(self, worker=DYING):
        await self.run(
            "UPDATE workers SET heartbeat_at = now() - interval '3 hours' WHERE id = %(id)s",
            {"id": worker},
        )

    async def counters(self):
        rows = await self.run(
            "SELECT subject_id, period, starts_on, spent_micros, reserved_micros"
            " FROM spend_counters WHERE counted_at IS NOT NULL"
        )
        return {tuple(row[:3]): (row[3], row[4]) for row in rows}

    async def run(self, sql, parameters=()):
        async with self.pool.connection() as connection:
            return await connection.execute(sql, parameters)


def on_ground(conninfo, play):
    """Play on an emptied database, with several connections."""
    emptied(conninfo)

    async def run():
        pool = Pool(conninfo, size=6)
        try:
            await play(Ground(pool))
        finally:
            await pool.drain(1)

    trio.run(run)


# the rules, in memory


@dataclass
class Model:
    """The same rules, in the plainest way: it knows every call, and adds up."""

    limits: dict = field(default_factory=dict)
    held: dict = field(default_factory=dict)  # reservation: (user, day, micros, worker)
    spent: list = field(default_factory=list)  # (user, day, micros)

    def used(self, subject, period, day):
        start = period_start(period, day)

        def counts(user, on):
            return subject in (user, NIL) and period_start(period, on) == start

        spent = sum(micros for user, on, micros in self.spent if counts(user, on))
        held = sum(m for user, on, m, _ in self.held.values() if counts(user, on))
        return spent, held

    def verdict(self, user, day):
        hard, busy, holds = False, False, False
        for (subject, period), limit in self.limits.items():
            if subject in (user, NIL):
                holds = True
                spent, held = self.used(subject, period, day)
                hard, busy = hard or spent >= limit, busy or spent + held >= limit
        if hard or busy:
            return WhyRefused.HARD if hard else WhyRefused.BUSY
        return "reserved" if holds else None


users, periods = some.sampled_from([ANN, BOB]), some.sampled_from(["day", "month"])
amounts = some.integers(0, 60)
steps = some.lists(
    some.one_of(
        some.tuples(
            some.just("reserve"), users, amounts, some.booleans(), some.sampled_from([0, 0, 1, 40])
        ),
        some.tuples(some.just("settle"), some.integers(0, 9), amounts | some.none()),
        some.tuples(some.just("give back"), some.integers(0, 9), some.booleans()),
        some.tuples(some.just("limit"), some.sampled_from([ANN, BOB, NIL]), periods, amounts),
        some.tuples(some.just("die")),
    ),
    max_size=25,
)


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=steps)
def test_limits_hold_as_in_the_model(fresh, steps):
    # A limit from the start: what was spent under none is known by when it was stored alone.
    on_ground(fresh, partial(_play, [("limit", NIL, "month", 150), *steps]))


async def _play(steps, ground):
    model, made = Model(), []
    for step in steps:
        match step:
            case ("limit", subject, period, micros):
                scope = "deployment" if subject == NIL else "user"
                await ground.limit(scope, subject, period, hard=micros)
                model.limits[subject, period] = micros
            case ("reserve", user, micros, dies, days):
                at = NOON + timedelta(days=days)
                worker = DYING if dies else ALIVE
                expected = model.verdict(user, at.date())
                found = await ground.reserve(user, micros, at=at, worker=worker)
                if isinstance(found, Reservation):
                    assert "reserved" == expected
                    made.append(found)
                    model.held[found] = (user, at.date(), micros, worker)
                else:
                    assert expected == (found.reason if isinstance(found, OverLimit) else found)
            case ("settle", number, micros) if made:
                one = made[number % len(made)]
                if one in model.held:
                    await ground.settle(one, micros)
                    user, day, expected_micros, _ = model.held.pop(one)
                    paid = expected_micros if micros is None else micros
                    model.spent.append((user, day, paid))
            case ("give back", number, is_spent) if made:
                one = made[number % len(made)]
                await ground.store.give_back([(one.id, is_spent)])
                if one in model.held:
                    user, day, micros, _ = model.held.pop(one)
                    model.spent += [(user, day, micros)] * is_spent
            case ("die",):
                await ground.die()
                await ground.store.sweep()
                gone = [one for one, kept in model.held.items() if kept[3] == DYING]
                for one in gone:
                    del model.held[one]
                await ground.run("UPDATE workers SET heartbeat_at = now()")
        for (subject, period, starts_on), use in (await ground.counters()).items():
            assert use == model.used(subject, period, starts_on), (subject, period, starts_on)
    rows = await ground.run("SELECT id FROM spend_reservations")
    assert {id for (id,) in rows} == {one.id for one in model.held}


# many at once


@pytest.mark.parametrize("limits", [1, 2])
def test_any_number_of_connections_sets_aside_no_more_than_there_is(fresh, limits):
    async def play(ground):
        for scope, subject in [("deployment", NIL), ("user", ANN)][:limits]:
            await ground.limit(scope, subject, hard=95)
        found = []

        async def call(user):
            found.append(await ground.reserve(user, 10))

        async with trio.open_nursery() as nursery:
            for number in range(40):
                nursery.start_soon(call, ANN if limits == 2 or number % 2 else BOB)

        made = [one for one in found if isinstance(one, Reservation)]
        assert ceil(95 / 10) == len(made)
        assert {WhyRefused.BUSY} == {one.reason for one in found if isinstance(one, OverLimit)}
        async with trio.open_nursery() as nursery:  # counted and given back at once, too
            for number, one in enumerate(made):
                if number % 2:
                    nursery.start_soon(ground.settle, one, 7)
                else:
                    nursery.start_soon(ground.store.give_back, [(one.id, False)])
        day = NOON.date()
        assert (35, 0) == (await ground.counters())[NIL, "day", day]

    on_ground(fresh, play)


def test_calls_that_come_at_one_moment_see_each_other(fresh):
    async def play(ground):
        await ground.limit(hard=15)
        await ground.store.give_back([((await ground.reserve()).id, False)])
        found = []

        async def call():
            found.append(await ground.reserve())

        async with (
            ground.pool.connection() as connection,
            trio.open_nursery() as nursery,
            connection.transaction() as tx,
        ):
            await tx.run([("SELECT * FROM spend_counters FOR NO KEY UPDATE", ())])
            for _ in range(4):
                nursery.start_soon(call)
            await eventually(partial(all_wait, ground, 4))

        reasons = [one.reason for one in found if isinstance(one, OverLimit)]
        assert [WhyRefused.BUSY] * 2 == reasons

    on_ground(fresh, play)


async def all_wait(ground, count):
    [(waiting,)] = await ground.run(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )
    return waiting == count


def test_one_call_is_never_counted_twice(fresh):
    async def play(ground):
        await ground.limit(hard=1000)
        id = uuid4()
        first, again = await ground.reserve(id=id), await ground.reserve(id=id)
        assert first == again
        assert (0, 10) == (await ground.counters())[ANN, "day", NOON.date()]

        await ground.settle(first, 4)
        for is_spent in (True, False):
            await ground.store.give_back([(id, is_spent)])

        assert (4, 0) == (await ground.counters())[ANN, "day", NOON.date()]

    on_ground(fresh, play)


def test_what_a_dead_process_has_set_aside_makes_room_for_the_next_call(fresh):
    async def play(ground):
        await ground.limit(hard=15)
        one, two = [await ground.reserve(worker=DYING) for _ in range(2)]
        assert WhyRefused.BUSY is (await ground.reserve()).reason

        await ground.die()
        assert isinstance(await ground.reserve(), Reservation)

        # It was only thought dead: what it pays all the same is counted, and nothing given back.
        await ground.settle(one, 9)
        assert (9, 10) == (await ground.counters())[ANN, "day", NOON.date()]
        assert two is not None

    on_ground(fresh, play)


@pytest.mark.parametrize(
    ("period", "last", "first"),
    [
        ("day", "2028-02-29T23:59:59.999999", "2028-03-01T00:00:00"),
        ("month", "2027-12-31T23:59:59.999999", "2028-01-01T00:00:00"),
        ("month", "2028-02-29T23:59:59.999999", "2028-03-01T00:00:00"),
    ],
)
def test_a_period_ends_at_midnight_of_utc(fresh, period, last, first):
    last, first = (datetime.fromisoformat(text).replace(tzinfo=UTC) for text in (last, first))

    async def play(ground):
        await ground.limit(period=period, hard=10)
        await ground.run("SET TIME ZONE 'Asia/Tokyo'")
        held = await ground.reserve(at=last)
        await ground.settle(held, 10)

        over = await ground.reserve(at=last)
        assert WhyRefused.HARD is over.reason
        assert f"{first:%d %B %Y}, 00:00 UTC" in over.message
        assert isinstance(await ground.reserve(at=first), Reservation)
        # A call that began before midnight counts for the day before, whenever it is stored.
        assert (10, 0) == (await ground.counters())[ANN, period, period_start(period, last.date())]

    on_ground(fresh, play)


def test_a_highest_group_counts_and_a_limit_of_ones_own_before_it(fresh):
    async def play(ground):
        [(everyone,)] = await ground.run("SELECT organization_id FROM deployment")
        groups = {name: uuid4() for name in ("low", "high")}
        for name, id in groups.items():
            await ground.run(
                "INSERT INTO groups (id, name) VALUES (%(id)s, %(name)s)", {"id": id, "name": name}
            )
            await ground.run(
                "INSERT INTO group_members (user_id, group_id) VALUES (%(user)s, %(id)s)",
                {"user": ANN, "id": id},
            )
        await ground.limit("group", everyone, hard=900)
        await ground.limit("group", groups["low"], hard=10)
        await ground.limit("group", groups["high"], hard=20)
        assert [("group", "high", 20)] == await limits_of(ground, ANN)
        assert [("group", "everyone", 900)] == await limits_of(ground, BOB)

        await ground.limit("user", ANN, hard=5)
        assert [("user", "", 5)] == await limits_of(ground, ANN)

    on_ground(fresh, play)


async def limits_of(ground, user):
    status = await ground.store.status(user, None)
    return [(each.scope, each.name, each.hard_micros) for each in status.limits]


def test_sums_are_made_anew_once_for_calls_that_nothing_was_set_aside_for(fresh):
    async def play(ground):
        now = datetime.now(UTC)
        await ground.limit(hard=1000)
        await ground.reserve(at=None, micros=0)
        # A process that knows of no limit yet stores what it bought.
        await SideCosts(ground.pool).add(CHATS[ANN], "answer", [Cost(30, "table")])
        assert 0 == await ground.store.recount(None)
        await ground.run("UPDATE spend_counters SET counted_at = now() - interval '1 day'")

        assert 2 <= await ground.store.recount(Price(0, 0))
        assert (30, 0) == (await ground.counters())[ANN, "day", now.date()]
        assert 0 == await ground.store.recount(None)

    on_ground(fresh, play)


def test_a_call_for_which_limits_change_again_and_again_is_refused_for_now(fresh):
    """As if an administrator changed a limit each time that counters have been added up."""

    async def play(ground):
        await ground.limit(hard=1000)
        await ground.run(
            "CREATE FUNCTION drop_sums() RETURNS trigger LANGUAGE plpgsql"
            " AS 'BEGIN NEW.counted_at := NULL; RETURN NEW; END'"
        )
        await ground.run(
            "CREATE TRIGGER drop_sums BEFORE UPDATE ON spend_counters"
            " FOR EACH ROW EXECUTE FUNCTION drop_sums()"
        )

        with pytest.raises(DatabaseBusy, match="limits changed"):
            await ground.reserve()

        await ground.run("DROP FUNCTION drop_sums CASCADE")  # with its trigger
        assert isinstance(await ground.reserve(), Reservation)

    on_ground(fresh, play)


def test_to_add_up_for_one_user_no_other_is_waited_for_or_waits(fresh):
    async def play(ground):
        await ground.limit("deployment", NIL, hard=1000)
        await ground.limit(hard=1000)
        await ground.reserve(ANN)
        everyone = "SELECT FROM spend_counters WHERE subject_id = %(id)s FOR NO KEY UPDATE"
        async with ground.pool.connection() as connection, connection.transaction() as tx:
            await tx.run([(everyone, {"id": NIL})])

            with trio.fail_after(PATIENCE_SECONDS):
                await ground.store.count(BOB, NOON.date(), None)

        assert (BOB, "day", NOON.date()) in await ground.counters()

    on_ground(fresh, play)
