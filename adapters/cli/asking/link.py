"""A one-time link for a user, straight in the database."""

import argparse
import sys

import trio

from adapters.cli.deeds.opening import opened
from adapters.people.auth.opening import LINK_PATH
from adapters.people.store.invitations import Invitations, Link
from adapters.people.store.users import Users
from adapters.postgres import migrating
from adapters.postgres.database import open_database, refusing
from adapters.postgres.driver.connection import Connection
from adapters.postgres.driver.pool import Pool
from adapters.settings import Config, names
from adapters.settings.refusals import CannotStart

DRAIN_SECONDS = 1.0


def run(options: argparse.Namespace) -> int:
    config = opened(options)
    link = names.run(_made, config, options.user)
    sys.stdout.write(f"{config.access_url or config.near_url}{LINK_PATH}/{link.code}\n")
    sys.stderr.write(f"good once, until {link.expires_at:%Y-%m-%d %H:%M %Z}\n")
    return 0


async def _made(config: Config, name: str) -> Link:
    async with open_database(config) as database:
        with refusing(database):
            await _check_schema(database.conninfo)
            pool = Pool(database.conninfo, size=1)
            try:
                user = await Users(pool).called(name)
                if user is None:
                    fact = f"there is nobody called {name!r:.64}"
                    raise CannotStart("users", fact, "the first one is called admin")
                return await Invitations(pool).add(user.id)
            finally:
                with trio.move_on_after(2 * DRAIN_SECONDS, shield=True):
                    await pool.drain(DRAIN_SECONDS)


async def _check_schema(conninfo: str) -> None:
    """This is no moment to change anything else."""
    connection = await Connection.open(conninfo)
    try:
        missing = await migrating.pending(connection)
    finally:
        connection.close()
    if missing:
        fact = f"the schema lacks {len(missing)} steps"
        raise CannotStart("database", fact, "start the daemon once, or run `promptcorner migrate`")
