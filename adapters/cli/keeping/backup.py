"""A running or a resting database into a file."""

import argparse
import importlib.metadata
import sys
from pathlib import Path

from adapters.cli.deeds.opening import opened
from adapters.cli.keeping.archive import FORMAT, Making, Manifest, Step, making
from adapters.cli.keeping.keys import key_here, vault_here
from adapters.postgres import embedded
from adapters.postgres.database import Database, open_database, refusing
from adapters.postgres.driver.connection import Connection
from adapters.postgres.dumping.dump import dump
from adapters.postgres.dumping.programs import ProgramFailed
from adapters.postgres.queries import SQL
from adapters.settings import Config, names
from adapters.settings.refusals import CannotStart
from runtime.clock import wall


def run(options: argparse.Namespace) -> int:
    config = opened(options)
    if config.database_url is None and not embedded.Wanted(config.data_dir).data.exists():
        fact = f"there is no database in {config.data_dir}"
        raise CannotStart("backup", fact, "name its directory with --data-dir")
    path = Path(options.file).expanduser().absolute()
    return names.run(_backup, config, path, options.with_secret_key)


async def _backup(config: Config, path: Path, with_key: bool) -> int:
    key = key_here(config)
    if with_key and key is None:
        fact = f"there is no secret key in {config.secret_key_file}"
        raise CannotStart("backup", fact, "leave out --with-secret-key")
    with making(path) as backup:
        async with open_database(config) as database:
            manifest = await _fill(backup, config, database)
        backup.finish(manifest, key if with_key else None)
    sys.stdout.write(_says(path, manifest, config, with_key=with_key))
    return 0


async def _fill(backup: Making, config: Config, database: Database) -> Manifest:
    with refusing(database):
        schema, server = await _facts(database.conninfo)
        made_at = wall()
        try:
            await dump(database.conninfo, backup.take)
        except ProgramFailed as failed:
            raise CannotStart("backup", str(failed)) from failed
        if (schema, server) != await _facts(database.conninfo):
            raise CannotStart("backup", "the schema was changed meanwhile", "try again")
    vault = vault_here(config)
    return Manifest(
        format=FORMAT,
        made_at=made_at,
        promptcorner=importlib.metadata.version("promptcorner"),
        server=server,
        schema=schema,
        secret_key=None if vault is None else vault.name,
        dump_bytes=backup.dump_bytes,
        dump_sha256=backup.dump_sha256,
    )


async def _facts(conninfo: str) -> tuple[tuple[Step, ...], str]:
    """The steps that the database has taken, and the version of its server."""
    connection = await Connection.open(conninfo)
    try:
        [(exists,)] = await connection.execute(SQL["has_migrations"])
        if not exists:
            fact = "there is nothing in the database: no daemon has ever used it"
            raise CannotStart("backup", fact)
        steps = await connection.execute(SQL["applied_migrations"])
        [(_, server)] = await connection.execute(SQL["server_version"])
        return tuple(Step(*step) for step in steps), str(server)
    finally:
        connection.close()


def _says(path: Path, manifest: Manifest, config: Config, *, with_key: bool) -> str:
    step = manifest.schema[-1].version if manifest.schema else 0
    lines = [f"{path}: {path.stat().st_size:,} bytes, schema at step {step}"]
    if manifest.secret_key is not None and with_key:
        lines.append("the secret key is in it: whoever reads the file can open all stored keys")
    elif manifest.secret_key is not None:
        where = "PROMPTCORNER_SECRET_KEY" if config.secret_key else str(config.secret_key_file)
        lines.append(f"the secret key is not: keep a copy of {where} elsewhere")
    return "\n".join(lines) + "\n"
