"""The endpoints of housekeeping for admins: how it goes, a pass now, and what a pass would do."""

from collections.abc import Sequence
from datetime import datetime

import msgspec
import trio
from msgspec import UNSET

from actors.upkeep.housekeeping import ChoreReport, Housekeeper, PassReport
from adapters.chats.housekeeping.lease import LEASE_SECONDS
from adapters.chats.housekeeping.schemas import (
    Housekeeping,
    HousekeepingChore,
    HousekeepingKeep,
    HousekeepingPass,
    HousekeepingRun,
    RunHousekeeping,
)
from adapters.http.endpoints import Access, Call, Endpoint, HttpResponse, json_response
from adapters.models import settings as names
from adapters.models.catalogue import Catalogue
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL, Record

HOUSEKEEPING = "/api/v2/housekeeping"
ANSWER_SECONDS = 20.0  # for a pass that was asked for; then it goes on, and the answer says so


class StatusRow(Record, frozen=True):
    """The state of housekeeping in the database."""

    running: bool
    ended_at: datetime | None
    report: bytes | None
    upgraded_at: datetime | None
    kept_since_upgrade: bool
    former: str | None  # what had been set before the upgrade
    quiet_seconds: float | None


_report_of = msgspec.json.Decoder(PassReport).decode


async def status_of(pool: Pool) -> StatusRow | None:
    """Return the state of housekeeping. None: no process has kept house yet."""
    async with pool.connection() as connection:
        found = await connection.execute(
            SQL["housekeeping_status"], {"lease_seconds": LEASE_SECONDS}
        )
    return StatusRow.of(found[0]) if found else None


class HousekeepingRoutes:
    """Handlers of housekeeping."""

    def __init__(self, pool: Pool, catalogue: Catalogue, housekeeper: Housekeeper) -> None:
        self._pool = pool
        self._catalogue = catalogue
        self._housekeeper = housekeeper

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=HOUSEKEEPING,
                handle=self.status,
                summary="How long things are kept, and what the last pass removed.",
                tag="housekeeping",
                access=Access.HIDDEN,
                scope="settings",
                answers={200: Housekeeping},
            ),
            Endpoint(
                method="POST",
                path=HOUSEKEEPING,
                handle=self.run,
                summary="Keep house now, or with dry_run say what a pass would remove.",
                tag="housekeeping",
                access=Access.ADMIN,
                scope="settings",
                body=RunHousekeeping,
                body_may_be_left_out=True,
                answers={200: HousekeepingRun, 202: HousekeepingRun},
            ),
        )

    async def status(self, call: Call) -> HttpResponse:
        row = await status_of(self._pool)
        settings = (await self._catalogue.snapshot()).settings
        keep = HousekeepingKeep(
            auto_archive_days=settings.value(names.AUTO_ARCHIVE_DAYS),
            retention_days=settings.value(names.RETENTION_DAYS),
            debug_retention_days=settings.value(names.DEBUG_RETENTION_DAYS),
            workspace_ttl_ms=settings.value(names.WORKSPACE_TTL_MS),
        )
        if row is None:
            answer = Housekeeping(running=False, keep=keep, kept_since_upgrade=False)
        else:
            answer = Housekeeping(
                running=row.running,
                keep=keep,
                upgraded_at=row.upgraded_at or UNSET,
                kept_since_upgrade=row.kept_since_upgrade,
                last=_pass_of(row) or UNSET,
            )
        return json_response(200, answer)

    async def run(self, call: Call) -> HttpResponse:
        dry_run = bool(call.body) and call.read(RunHousekeeping).dry_run
        if dry_run:
            chores = _shown(await self._housekeeper.survey())
            return json_response(200, HousekeepingRun(dry_run=True, ended=True, chores=chores))
        before = await status_of(self._pool)
        ended = False
        with trio.move_on_after(ANSWER_SECONDS):
            await self._housekeeper.ask().wait()
            ended = True
        after = await status_of(self._pool)
        # Another process may be at it: then what is asked for is done there.
        is_new = after is not None and (before is None or after.ended_at != before.ended_at)
        last = _pass_of(after) if after is not None and is_new else None
        chores = last.chores if last is not None else ()
        run = HousekeepingRun(dry_run=False, ended=ended and is_new, chores=chores)
        return json_response(200 if run.ended else 202, run)


def _pass_of(row: StatusRow) -> HousekeepingPass | None:
    if row.report is None or row.ended_at is None:
        return None
    report = _report_of(row.report)
    return HousekeepingPass(
        ended_at=row.ended_at, seconds=report.seconds, chores=_shown(report.chores)
    )


def _shown(chores: Sequence[ChoreReport]) -> Sequence[HousekeepingChore]:
    return [
        HousekeepingChore(
            name=each.name,
            count=each.count,
            bytes=each.bytes,
            left=each.left,
            error=each.error or UNSET,
        )
        for each in chores
    ]
