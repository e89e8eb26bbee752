"""The database that the configuration names: opened, brought up to date, and what it refuses."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial

from psycopg.errors import InsufficientPrivilege

from adapters.postgres import embedded, migrating
from adapters.postgres.driver import reaching
from adapters.postgres.driver.faults import DatabaseFault
from adapters.settings import Config
from adapters.settings.refusals import CannotStart
from runtime.threads import read


@dataclass(frozen=True, slots=True)
class Database:
    """Where the store is, and how the log calls it."""

    conninfo: str
    name: str
    cluster: embedded.Cluster | None = None  # None: somebody else's server


@asynccontextmanager
async def open_database(config: Config) -> AsyncIterator[Database]:
    """The embedded server, or the one that DATABASE_URL names."""
    if config.database_url is not None:
        await read(reaching.REACHING, partial(reaching.check, config.database_url))
        yield Database(config.database_url, reaching.describe(config.database_url))
        return
    wanted = embedded.Wanted(config.data_dir, config.postgres_user)
    async with embedded.use(wanted) as cluster:
        yield Database(cluster.conninfo, "embedded", cluster)


async def migrate(database: Database) -> Sequence[migrating.Migration]:
    """Bring the schema to what this program needs; several may do so at once."""
    with refusing(database):
        return await migrating.migrate(database.conninfo)


def lost_at_start(error: Exception) -> CannotStart | None:
    """Return a refusal in words if nothing but the database is why the daemon did not begin.

    It may go away after the schema has been looked at: then tasks that have begun by then fail.
    """
    faults = _leaves(error)
    if not all(isinstance(fault, DatabaseFault) for fault in faults):
        return None
    subject, _, fact = str(faults[0]).partition(": ")
    return CannotStart(subject, fact, "start the daemon again when the database answers")


def _leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in _leaves(inner)]
    return [error]


@contextmanager
def refusing(database: Database) -> Iterator[None]:
    """What a schema or a server may say to those who want to change it, as a refusal."""
    try:
        yield
    except (migrating.SchemaFault, DatabaseFault) as fault:
        subject, _, fact = str(fault).partition(": ")
        raise CannotStart(subject, fact) from fault
    except InsufficientPrivilege as error:
        raise CannotStart(
            database.name,
            error.diag.message_primary or "permission denied",
            "let the user create tables (GRANT ALL ON SCHEMA public TO ...)",
        ) from error
