"""`promptcorner backup` and `promptcorner restore`: a database into a file, and back."""

import argparse
import importlib.metadata
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from adapters.cli.archive import (
    FORMAT,
    Archive,
    BackupManifest,
    BackupWriter,
    MigrationStep,
    new_archive,
    open_archive,
)
from adapters.cli.command_line import (
    DATABASE_SUBJECTS,
    add_settings,
    describe,
    load_config,
    secrets_help,
)
from adapters.postgres import embedded, migrating
from adapters.postgres.database import Database, open_database, refusing_start
from adapters.postgres.driver.connection import DatabaseConnection
from adapters.postgres.dump import ProgramFailed, dump, restore_dump
from adapters.postgres.queries import SQL
from adapters.settings import Config, names
from adapters.settings.directories import make_directory
from adapters.settings.refusals import CannotStart
from adapters.settings.secrets import Vault, open_vault
from runtime.clock import wall

BACKUP = """\
Write everything that is in the database to one file, as it is at one moment; the daemon may run.

  promptcorner backup chats.tar
  promptcorner backup --with-secret-key chats.tar            as secret as a password: keep it so
  DATABASE_URL=postgresql://... promptcorner backup chats.tar

The secret key, which opens the stored keys of providers, is not in it: keep a copy of it elsewhere
(secret.key in --data-dir, if you set no other), or ask for it with --with-secret-key. The file is a
tar file, and whole if it has its name. Make a backup before you install a new version.

exit codes: 0 written, 1 not (a line says why; nothing is left), 2 wrong usage
"""
RESTORE = """\
Make a database what it was when the backup was made. It must be empty: a new --data-dir, or a new
database. All of it is restored, or nothing.

  promptcorner restore chats.tar --data-dir /var/lib/promptcorner-restored
  DATABASE_URL=postgresql://.../new promptcorner restore chats.tar

Backups of older versions are brought up to date by the next `promptcorner serve` or `migrate`;
those of newer ones are refused. The secret key must be here before, or in the backup.

exit codes: 0 restored, 1 not (a line says why; nothing was changed), 2 wrong usage
"""


def add_backup_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file, --with-secret-key, and the settings of the database."""
    usage = "backup [--with-secret-key] [SETTINGS] FILE"
    describe(parser, BACKUP, run=run_backup, epilog=secrets_help(DATABASE_SUBJECTS), usage=usage)
    parser.add_argument("file", metavar="FILE", help="to be made; it must not be there yet")
    parser.add_argument("--with-secret-key", action="store_true", help="put the secret key into it")
    add_settings(parser, DATABASE_SUBJECTS)


def add_restore_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file, --without-secret-key, and the settings of the database."""
    usage = "restore [--without-secret-key] [SETTINGS] FILE"
    describe(parser, RESTORE, run=run_restore, epilog=secrets_help(DATABASE_SUBJECTS), usage=usage)
    parser.add_argument("file", metavar="FILE", help="made by promptcorner backup")
    parser.add_argument(
        "--without-secret-key",
        action="store_true",
        help="go on without the key: what it sealed (keys of providers) has to be entered anew",
    )
    add_settings(parser, DATABASE_SUBJECTS)


def run_backup(options: argparse.Namespace) -> int:
    """Write a backup."""
    config = load_config(options)
    if config.database_url is None and not embedded.ClusterOptions(config.data_dir).data.exists():
        fact = f"there is no database in {config.data_dir}"
        raise CannotStart("backup", fact, "name its directory with --data-dir")
    path = Path(options.file).expanduser().absolute()
    return names.run(_backup, config, path, options.with_secret_key)


async def _backup(config: Config, path: Path, with_key: bool) -> int:
    key = _key_of(config)
    if with_key and key is None:
        fact = f"there is no secret key in {config.secret_key_file}"
        raise CannotStart("backup", fact, "leave out --with-secret-key")
    with new_archive(path) as backup:
        async with open_database(config) as database:
            manifest = await _dump(backup, config, database)
        backup.finish(manifest, key if with_key else None)
    sys.stdout.write(_summary(path, manifest, config, with_key=with_key))
    return 0


async def _dump(backup: BackupWriter, config: Config, database: Database) -> BackupManifest:
    with refusing_start(database):
        schema, server = await _schema_and_server(database.conninfo)
        made_at = wall()
        try:
            await dump(database.conninfo, backup.write_dump)
        except ProgramFailed as failed:
            raise CannotStart("backup", str(failed)) from failed
        if (schema, server) != await _schema_and_server(database.conninfo):
            raise CannotStart("backup", "the schema was changed meanwhile", "try again")
    vault = _vault_of(config)
    return BackupManifest(
        format=FORMAT,
        made_at=made_at,
        promptcorner=importlib.metadata.version("promptcorner"),
        server=server,
        schema=schema,
        secret_key=None if vault is None else vault.name,
        dump_bytes=backup.dump_bytes,
        dump_sha256=backup.dump_sha256,
    )


async def _schema_and_server(conninfo: str) -> tuple[tuple[MigrationStep, ...], str]:
    """Return the steps that the database has taken, and the version of its server."""
    connection = await DatabaseConnection.open(conninfo)
    try:
        [(exists,)] = await connection.execute(SQL["has_migrations"])
        if not exists:
            raise CannotStart("backup", "the database is empty: no daemon has ever used it")
        steps = await connection.execute(SQL["applied_migrations"])
        [(_, server)] = await connection.execute(SQL["server_version"])
        return tuple(MigrationStep(*step) for step in steps), str(server)
    finally:
        connection.close()


def _summary(path: Path, manifest: BackupManifest, config: Config, *, with_key: bool) -> str:
    step = manifest.schema[-1].version if manifest.schema else 0
    lines = [f"{path}: {path.stat().st_size:,} bytes, schema at step {step}"]
    if manifest.secret_key is not None and with_key:
        lines.append("the secret key is in it: readers of the file can open all stored keys")
    elif manifest.secret_key is not None:
        where = "PROMPTCORNER_SECRET_KEY" if config.secret_key else str(config.secret_key_file)
        lines.append(f"the secret key is not in it: keep a copy of {where} elsewhere")
    return "\n".join(lines) + "\n"


def _vault_of(config: Config) -> Vault | None:
    """Open the vault of this place; None if it has no secret key, for none is made here."""
    if config.secret_key is None and not config.secret_key_file.exists():
        return None
    return open_vault(config.secret_key, config.data_dir)


def _key_of(config: Config) -> str | None:
    """Return the secret key of this place, once it has proved to be one."""
    if _vault_of(config) is None:
        return None
    return config.secret_key or config.secret_key_file.read_text().strip()


# restore


def run_restore(options: argparse.Namespace) -> int:
    """Fill an empty database from a backup."""
    config = load_config(options)
    archive = open_archive(Path(options.file).expanduser().absolute())
    _check_schema(archive)
    return names.run(_restore, config, archive, options.without_secret_key)


def _check_schema(archive: Archive) -> None:
    """Refuse a backup of a newer program, or of one built with other migrations."""
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
            with refusing_start(database):
                await _fill(database, archive)
    step = archive.manifest.schema[-1].version if archive.manifest.schema else 0
    made = archive.manifest.made_at.isoformat(sep=" ", timespec="seconds")
    sys.stdout.write(f"{database.name}: as it was at {made}, schema at step {step}\n")
    return 0


async def _fill(database: Database, archive: Archive) -> None:
    """Fill the database under the lock of migrations, so that no daemon makes tables meanwhile."""
    connection = await DatabaseConnection.open(database.conninfo)
    try:
        await connection.execute(SQL["lock_migrations"], {"lock": migrating.LOCK})
        [(relations,)] = await connection.execute(SQL["relations_there"])
        if relations:
            fact = f"it is not empty ({relations} tables and indexes are there)"
            raise CannotStart(database.name, fact, "restore into a new database or --data-dir")
        [(version, _)] = await connection.execute(SQL["server_version"])
        await restore_dump(database.conninfo, version, archive.dump())
        await migrating.pending(connection)
    except ProgramFailed as failed:
        raise CannotStart("restore", f"{failed}; nothing was restored") from failed
    finally:
        connection.close()


@contextmanager
def _key_in_place(config: Config, archive: Archive, *, without_key: bool) -> Iterator[None]:
    """Put the key that opens the backup's secrets in its place, if it is not there yet.

    If the block fails, a key that was written for it is removed again.
    """
    here, wanted = _vault_of(config), archive.manifest.secret_key
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
    with _written_key(config.secret_key_file, archive.secret_key, wanted):
        yield


@contextmanager
def _written_key(path: Path, key: str, wanted: str) -> Iterator[None]:
    if Vault(key.encode()).name != wanted:
        raise CannotStart("restore", f"the secret key in it is not the key {wanted}")
    try:
        make_directory(path.parent)
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
