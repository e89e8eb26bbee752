"""A backup is what was there, and a restore brings it back or changes nothing."""

import json
import os
import random
import shutil
import subprocess
import tarfile
from hashlib import sha256

import psycopg
import pytest
from psycopg import sql

from adapters.cli.archive import new_archive
from adapters.settings.refusals import CannotStart
from adapters.settings.secrets import Vault
from tests.e2e.clients import a_client
from tests.e2e.conftest import a_database
from tests.e2e.daemons import command, environment, run

pytestmark = pytest.mark.slow

KEY, OTHER = "k" * 40, "o" * 40
NOTHING = {"sequences": []}


@pytest.fixture(scope="module")
def filled(server):
    """A database with our schema; tests leave it as it is, but for more chats."""
    with a_database(server, "filled") as conninfo:
        assert 0 == run("migrate", DATABASE_URL=conninfo)[0]
        yield conninfo


@pytest.fixture(scope="module")
def backup_of_filled(filled, tmp_path_factory):
    file = tmp_path_factory.mktemp("backup") / "chats.tar"
    assert 0 == backup(filled, file, PROMPTCORNER_SECRET_KEY=KEY)[0]
    return file


@pytest.fixture
def made(backup_of_filled, file):
    """A backup of that one, with keys sealed by KEY, to do with as one likes."""
    shutil.copy(backup_of_filled, file)
    return file


@pytest.fixture
def empty(server):
    with a_database(server, "restored") as conninfo:
        yield conninfo


@pytest.fixture
def file(tmp_path):
    return tmp_path / "chats.tar"


def backup(database, file, *words, **settings):
    return run("backup", *words, file, "--data-dir", "/none", DATABASE_URL=database, **settings)


def restore(database, file, *words, key=KEY, **settings):
    key = {"PROMPTCORNER_SECRET_KEY": key} if key else {}
    where = {"DATABASE_URL": database}
    return run("restore", *words, file, "--data-dir", "/none", **where, **key, **settings)


def refused(said):
    """What a command said when it refused to do anything."""
    code, out, err = said
    assert (1, "", 1) == (code, out, err.count("\n")), err
    return err.removeprefix("promptcorner: ").rstrip("\n")


def content(conninfo):
    """Every row of every table, and where every sequence stands."""
    found = {}
    with psycopg.connect(conninfo) as connection:
        tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        for (name,) in connection.execute(tables).fetchall():
            everything = sql.SQL("SELECT t::text FROM {} t ORDER BY 1").format(sql.Identifier(name))
            found[name] = connection.execute(everything).fetchall()
        sequences = "SELECT sequencename, last_value FROM pg_sequences ORDER BY 1"
        found["sequences"] = connection.execute(sequences).fetchall()
    return found


def taken_apart(file):
    with tarfile.open(file) as tar:
        return {name: tar.extractfile(name).read() for name in tar.getnames()}


def put_together(file, parts):
    with tarfile.open(file, "w") as tar:
        for name, data in parts.items():
            path = file.with_name(f"{name}.part")
            path.write_bytes(data)
            tar.add(path, name)


async def test_what_was_there_is_there_again_and_can_be_worked_with(filled, empty, file):
    words = random.Random(7).randbytes(3_000_000).hex()
    async with a_client(filled) as client:
        chat = await client.create(words)
        await client.create("a second one")
    before = content(filled)

    code, said, _ = backup(filled, file)
    assert 0 == code
    assert said.startswith(f"{file}: {file.stat().st_size:,} bytes, schema at step ")

    code, said, _ = restore(empty, file)

    assert (0, True) == (code, said.startswith("database "))
    assert before == content(empty)
    async with a_client(empty) as client:
        assert [("user", words)] == await client.said(chat)
        assert await client.create("a third one")
    assert before == content(filled)
    assert 0o600 == file.stat().st_mode & 0o777


def test_a_backup_is_of_an_embedded_server_too(home, file):
    run("migrate", "--data-dir", home)
    other = home.with_name("other")

    assert 0 == run("backup", file, "--data-dir", home)[0]
    assert 0 == run("restore", file, "--data-dir", other)[0]

    up_to_date = (0, "the schema is up to date\n", "")
    assert up_to_date == run("migrate", "--check", "--data-dir", other)
    assert "it is not empty" in refused(run("restore", file, "--data-dir", other))


def test_a_place_without_a_database_has_no_backup(home, database, file):
    nowhere = f"backup: there is no database in {home}; name its directory with --data-dir"
    unused = "backup: the database is empty: no daemon has ever used it"

    assert nowhere == refused(run("backup", file, "--data-dir", home))
    assert unused == refused(backup(database, file))
    assert not home.exists()
    assert [] == list(file.parent.iterdir())


def test_a_backup_takes_no_name_that_is_taken(filled, file):
    file.write_text("precious")

    said = refused(backup(filled, file))

    assert f"backup: {file} is there already; choose another name" == said
    assert "precious" == file.read_text()


def test_two_backups_of_one_name_do_not_mix(filled, file):
    """The slower one finds the name taken, and what is there is of the faster one alone."""
    slow = new_archive(file)
    slow.__enter__().write_dump(b"half of it")
    assert 0 == backup(filled, file)[0]
    whole = file.read_bytes()

    with pytest.raises(CannotStart, match=r"chats\.tar: file exists$"):
        slow.__exit__(None, None, None)

    assert whole == file.read_bytes()
    assert [file] == list(file.parent.iterdir())


def test_a_disk_that_is_full_leaves_nothing(filled, file):
    words, how = command("backup", file, "--data-dir", "/none")
    limited = ["sh", "-c", 'ulimit -f 20; exec "$@"', "sh", *words]  # blocks of 512 bytes

    done = subprocess.run(
        limited, env=environment(DATABASE_URL=filled), capture_output=True, text=True, **how
    )

    assert (1, f"promptcorner: backup: {file}: file too large\n") == (done.returncode, done.stderr)
    assert [] == list(file.parent.iterdir())


def test_a_backup_that_cannot_be_written_leaves_nothing(filled, tmp_path):
    said = refused(backup(filled, tmp_path / "none" / "chats.tar"))

    assert f"backup: {tmp_path}/none/chats.tar: no such file or directory" == said


def test_a_restore_is_into_an_empty_database_only(filled, made):
    before = content(filled)

    said = refused(restore(filled, made))

    assert "it is not empty" in said
    assert "restore into a new database or --data-dir" in said
    assert before == content(filled)


def test_a_file_that_is_not_whole_is_refused(database, made):
    size = made.stat().st_size
    for kept in (size - 1024 - 512, size - 4096, 5_000, 512, 1, 0):  # from much to nothing
        os.truncate(made, kept)

        said = refused(restore(database, made))

        assert f"restore: {made} is no backup, or not a whole one" == said
    assert NOTHING == content(database)


def test_a_file_that_was_damaged_is_refused(database, made):
    with made.open("r+b") as opened:
        opened.seek(5_000)
        byte = opened.read(1)
        opened.seek(5_000)
        opened.write(bytes([byte[0] ^ 1]))

    said = refused(restore(database, made))

    assert f"restore: {made} was damaged: its dump is not the one that was made" == said


def with_manifest(file, **changes):
    parts = taken_apart(file)
    parts["manifest.json"] = json.dumps(json.loads(parts["manifest.json"]) | changes).encode()
    put_together(file, parts)


def test_a_backup_of_the_future_is_refused(database, made):
    schema = json.loads(taken_apart(made)["manifest.json"])["schema"]
    known = len(schema)

    with_manifest(made, schema=[*schema, {"version": known + 1, "name": "later", "checksum": ""}])
    newer_schema = refused(restore(database, made))
    with_manifest(made, schema=[{**schema[0], "checksum": "other"}])
    other_build = refused(restore(database, made))
    with_manifest(made, format=2)
    newer_format = refused(restore(database, made))

    advice = "use a newer version of promptcorner"
    step = f"has schema step {known + 1}, this program knows {known}"
    assert f"restore: {made} {step}; {advice}" == newer_schema
    assert (
        f"restore: {made}: its schema step 1 is not the one we know;"
        " it was made by another build of promptcorner"
    ) == other_build
    assert f"restore: {made} has format 2, this program knows 1; {advice}" == newer_format
    assert NOTHING == content(database)


def test_a_backup_of_the_past_is_brought_up_to_date_later(database, empty, file):
    run("migrate", DATABASE_URL=database)
    with psycopg.connect(database) as connection:  # as if the last step had not been there yet
        [newest] = connection.execute("SELECT max(version) FROM schema_migrations").fetchone()
        connection.execute("DELETE FROM schema_migrations WHERE version = %s", [newest])
    backup(database, file)

    assert 0 == restore(empty, file)[0]

    code, pending, _ = run("migrate", "--check", DATABASE_URL=empty)
    assert (1, True) == (code, pending.startswith(f"pending {newest:04d}_"))


def test_a_restore_that_the_server_breaks_off_leaves_the_database_empty(database, made):
    with psycopg.connect(database) as connection:  # no relation, but in the way of our last table
        connection.execute("CREATE TYPE workers AS ENUM ()")

    said = refused(restore(database, made))

    assert said == 'restore: psql: type "workers" already exists; nothing was restored'
    assert NOTHING == content(database)


def test_a_restore_of_half_a_dump_leaves_the_database_empty(database, made):
    parts = taken_apart(made)
    half = parts["database.dump"][: -len(parts["database.dump"]) // 4]
    put_together(made, {**parts, "database.dump": half})
    with_manifest(made, dump_bytes=len(half), dump_sha256=sha256(half).hexdigest())

    said = refused(restore(database, made))

    assert said.startswith("restore: pg_restore: ")
    assert said.endswith("; nothing was restored")
    assert NOTHING == content(database)


# the secret key


def test_the_key_is_in_it_only_if_it_is_asked_for(filled, file):
    with_key = file.with_name("with.tar")

    _, silent, _ = backup(filled, file, PROMPTCORNER_SECRET_KEY=KEY)
    _, loud, _ = backup(filled, with_key, "--with-secret-key", PROMPTCORNER_SECRET_KEY=KEY)
    no_key = refused(backup(filled, file.with_name("no"), "--with-secret-key"))

    assert "the secret key is not in it: keep a copy of PROMPTCORNER_SECRET_KEY elsewhere" in silent
    assert "the secret key is in it" in loud
    assert KEY.encode() not in file.read_bytes()
    assert KEY.encode() + b"\n" == taken_apart(with_key)["secret.key"]
    assert no_key == (
        "backup: there is no secret key in /none/secret.key; leave out --with-secret-key"
    )


def test_another_key_is_refused_unless_one_goes_on_without(database, made):
    wanted, here = Vault(KEY.encode()).name, Vault(OTHER.encode()).name

    no_key = refused(restore(database, made, key=None))
    wrong = refused(restore(database, made, key=OTHER))

    sealed = f"restore: its keys were sealed with the secret key {wanted}"
    assert no_key.startswith(f"{sealed}, which is not in it; put it into /none/secret.key, or set ")
    assert wrong.startswith(f"{sealed}, here is {here}; set that one, or enter the keys anew ")
    assert NOTHING == content(database)
    assert 0 == restore(database, made, "--without-secret-key", key=OTHER)[0]


def test_a_key_in_the_backup_is_put_in_its_place(filled, home, file):
    backup(filled, file, "--with-secret-key", PROMPTCORNER_SECRET_KEY=KEY)

    assert 0 == run("restore", file, "--data-dir", home)[0]

    assert KEY + "\n" == (home / "secret.key").read_text()
    assert 0o600 == (home / "secret.key").stat().st_mode & 0o777


def test_a_restore_that_breaks_leaves_no_key(filled, file, tmp_path):
    backup(filled, file, "--with-secret-key", PROMPTCORNER_SECRET_KEY=KEY)
    home = tmp_path / "home"

    said = run("restore", file, "--data-dir", home, DATABASE_URL=filled)

    assert "it is not empty" in refused(said)
    assert [] == list(home.iterdir())
