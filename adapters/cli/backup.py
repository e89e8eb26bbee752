"""`promptcorner backup` and `promptcorner restore`: their words."""

import argparse
from typing import TYPE_CHECKING

from adapters.cli.settings import OF_THE_DATABASE, add_command, add_settings, secrets

if TYPE_CHECKING:
    from adapters.cli.settings import Commands

BACKUP = """\
Write everything that is in the database to one file, as it is at one moment; the daemon may run.

  promptcorner backup chats.tar
  promptcorner backup --with-secret-key chats.tar            as secret as a password: keep it so
  DATABASE_URL=postgresql://... promptcorner backup chats.tar

The secret key, which opens the stored keys of providers, is not in it: keep a copy of it elsewhere
(secret.key in --data-dir, if you set no other), or ask for it. The file is a tar file; what bears
its name is whole. A new version should be preceded by a backup.

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


def add_to(commands: "Commands") -> None:
    backup = add_command(
        commands,
        "backup",
        run_backup,
        says="write the database to a file",
        teaches=BACKUP,
        ends=secrets(OF_THE_DATABASE),
        usage="backup [--with-secret-key] [SETTINGS] FILE",
    )
    backup.add_argument("file", metavar="FILE", help="to be made; it must not be there yet")
    backup.add_argument("--with-secret-key", action="store_true", help="put the secret key into it")
    restore = add_command(
        commands,
        "restore",
        run_restore,
        says="fill an empty database from such a file",
        teaches=RESTORE,
        ends=secrets(OF_THE_DATABASE),
        usage="restore [--without-secret-key] [SETTINGS] FILE",
    )
    restore.add_argument("file", metavar="FILE", help="made by promptcorner backup")
    restore.add_argument(
        "--without-secret-key",
        action="store_true",
        help="go on without the key: what it sealed (keys of providers) has to be entered anew",
    )
    for parser in (backup, restore):
        add_settings(parser, OF_THE_DATABASE)


def run_backup(options: argparse.Namespace) -> int:
    from adapters.cli.keeping import backup

    return backup.run(options)


def run_restore(options: argparse.Namespace) -> int:
    from adapters.cli.keeping import restore

    return restore.run(options)
