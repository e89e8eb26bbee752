"""A backup into an empty database."""

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from adapters.cli.deeds.opening import opened
from adapters.cli.keeping.archive import Archive
from adapters.cli.keeping.archive import opened as opened_archive
from adapters.cli.keeping.keys import vault_here
from adapters.postgres import migrating
from adapters.postgres.database import Database, open_database, refusing
from adapters.postgres.driver.connection import Connection
from adapters.postgres.dumping.dump import fill
from adapters.postgres.dumping.programs import ProgramFailed
from adapters.postgres.queries import SQL
from adapters.settings import Config, names
from adapters.settings.refusals import CannotStart
from adapters.settings.secrets import Vault


def run(options: argparse.Namespace) -> int:
    config = opened(options)
    archive = opened_archive(Path(options.file).expanduser().absolute())
    _check_schema(archive)
    return names.run(_restore, config, archive, options.without_secret_key)


def _check_schema(archive: Archive) -> None:
    """A program knows the past, not the future, nor what another build has done."""
    known = {step.version: (step.name, step.checksum) for step in migrating.known()}
    for step in archive.manifest.schema:
        if step.version not in known:
            fact = f"{archive.path} has schema step {step.version}, this program knows {len(known)}"
            raise CannotStart("restore", fact, "use a newer version of promptcorner")
        if (step.name, step.checksum) != known[step.version]:
            fact = f"{archive.path}: its schema step {step.version} is not the one we know"
            raise CannotStart("restore", fact, "it was made by another build of promptcorner")


async def _restore(config: Config, archive: Archive, without_key: bool) -> int:
    with _key_in_place(config, archive, without_key=without_key):
        async with open_database(config) as database:
            with refusing(database):
                await _fill(database, archive)
    step = archive.manifest.schema[-1].version if archive.manifest.schema else 0
    made = archive.manifest.made_at.isoformat(sep=" ", timespec="seconds")
    sys.stdout.write(f"{database.name}: as it was at {made}, schema at step {step}\n")
    return 0


async def _fill(database: Database, archive: Archive) -> None:
    """While we hold the lock of migrations, no daemon that starts makes anything there."""
    connection = await Connection.open(database.conninfo)
    try:
        await connection.execute(SQL["lock_migrations"], {"lock": migrating.LOCK})
        [(relations,)] = await connection.execute(SQL["relations_there"])
        if relations:
            fact = f"it is not empty ({relations} tables and indexes are there)"
            raise CannotStart(database.name, fact, "restore into a new database or --data-dir")
        [(version, _)] = await connection.execute(SQL["server_version"])
        await fill(database.conninfo, version, archive.dump())
        await migrating.pending(connection)
    except ProgramFailed as failed:
        raise CannotStart("restore", f"{failed}; nothing was restored") from failed
    finally:
        connection.close()


@contextmanager
def _key_in_place(config: Config, archive: Archive, *, without_key: bool) -> Iterator[None]:
    """The key that opens what is in the backup: it is here, or comes out of it. If the block goes
    wrong, there is none that was not there before."""
    here, wanted = vault_here(config), archive.manifest.secret_key
    if (here is not None and here.name == wanted) or wanted is None or without_key:
        yield
        return
    if here is not None:
        fact = f"its keys were sealed with the secret key {wanted}, here is {here.name}"
        advice = "set that one, or enter the keys anew after --without-secret-key"
        raise CannotStart("restore", fact, advice)
    if archive.secret_key is None:
        raise CannotStart(
            "restore",
            f"its keys were sealed with the secret key {wanted}, which is not in it",
            f"put it into {config.secret_key_file}, or set PROMPTCORNER_SECRET_KEY,"
            " or enter the keys anew after --without-secret-key",
        )
    with _written(config.secret_key_file, archive.secret_key, wanted):
        yield


@contextmanager
def _written(path: Path, key: str, wanted: str) -> Iterator[None]:
    if Vault(key.encode()).name != wanted:
        raise CannotStart("restore", f"the secret key in it is not the key {wanted}")
    try:
        path.parent.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        fact = f"{path}: {(error.strerror or str(error)).lower()}"
        raise CannotStart("restore", fact) from error
    restored = False
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(key + "\n")
            file.flush()
            os.fsync(descriptor)
        yield
        restored = True
    finally:
        if not restored:
            path.unlink()
