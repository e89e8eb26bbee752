"""The wiring of this room: for the door, for the routes, and for other rooms that name users.

    async with open_auth(pool, bus, vault, admin_token=..., access_url=...) as auth:
        Door([auth.streams.guarding(row) for row in rows], auth.callers)

Code that changes something of a user calls `auth.changed`: what this process keeps of the user is
forgotten before that returns, what other processes keep as soon as they hear of it.
"""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import trio
from argon2 import PasswordHasher

from actors.law.ids import UserId
from actors.law.store.hints import HintsLost, News, PersonChanged
from actors.law.store.ports import Bus
from adapters.people.auth.callers import Callers, Identify
from adapters.people.auth.open_streams import OpenStreams
from adapters.people.auth.passwords import LoginThrottle, Passwords
from adapters.people.auth.signing import Signing
from adapters.people.store.deployment import (
    LINK_SECONDS,
    Deployment,
    FirstAdminSetup,
    Invitations,
    ensure_first_admin,
    read_deployment,
)
from adapters.people.store.tokens import LAST_SECONDS, Tokens, TokenUseNotes
from adapters.people.store.users import CachedUsers, Users
from adapters.postgres.driver.pool import Pool
from adapters.settings.secrets import Vault, local_token
from runtime.children import Child, open_children
from runtime.log import emit
from runtime.restart import Restart

LINK_PATH = "/join"  # what a one-time link leads to, before its code


@dataclass(frozen=True, slots=True)
class Auth:
    """The parts that know people."""

    deployment: Deployment
    callers: Callers
    users: Users
    cached_users: CachedUsers
    tokens: Tokens
    invitations: Invitations
    passwords: Passwords
    throttle: LoginThrottle
    signing: Signing
    token_use: TokenUseNotes
    streams: OpenStreams
    bus: Bus

    def changed(self, user: UserId) -> None:
        """Tell every cache that something of this user has changed. Call it after the commit."""
        self.bus.tell(PersonChanged(user))

    def hear(self, news: News) -> None:
        match news:
            case PersonChanged():
                self.callers.forget(news.user)
                self.cached_users.forget(news.user)
                self.streams.doubt(news.user)
            case HintsLost():
                self.callers.forget_all()
                self.cached_users.forget_all()
                self.streams.doubt_all()
            case _:
                pass  # of chats and models


@asynccontextmanager
async def open_auth(
    pool: Pool,
    bus: Bus,
    vault: Vault,
    *,
    admin_token: str | None,
    access_url: str,
    hasher: PasswordHasher | None = None,
    invites: bool = True,
    processes: int = 1,
    identify: Identify | None = None,
) -> AsyncIterator[Auth]:
    """Run the parts as long as the block runs.

    The first admin exists then. If they need a link and this process `invites`, it is printed.
    `processes` is the number of processes behind this address, ours included.
    """
    throttle = LoginThrottle(processes=processes)
    names = await read_deployment(pool)
    auth = _auth(pool, bus, vault, names=names, throttle=throttle, hasher=hasher, identify=identify)
    async with open_children("people", capacity=2) as children:
        with bus.follow(auth.hear, PersonChanged):
            founded = await ensure_first_admin(
                pool, admin_token, local_token=local_token(vault), invites=invites
            )
            auth.changed(founded.admin.id)  # their configured token may have
            if founded.code is not None:
                print_invitation(founded, f"{access_url}{LINK_PATH}/{founded.code}")
            children.start(Child(name="usage", body=auth.token_use.run, restart=Restart()))
            children.start(Child(name="open streams", body=auth.streams.run, restart=Restart()))
            try:
                yield auth
            finally:
                with trio.move_on_after(LAST_SECONDS, shield=True):
                    await auth.token_use.write()


def _auth(
    pool: Pool,
    bus: Bus,
    vault: Vault,
    *,
    names: Deployment,
    throttle: LoginThrottle,
    hasher: PasswordHasher | None,
    identify: Identify | None,
) -> Auth:
    users, tokens = Users(pool), Tokens(pool)
    known = CachedUsers(users)
    usage = TokenUseNotes(tokens)
    signing = Signing(csrf_key=vault.derived("csrf"), ticket_key=vault.derived("ticket"))
    callers = Callers(tokens, signing, known, used=usage.note, identify=identify)
    return Auth(
        deployment=names,
        callers=callers,
        users=users,
        cached_users=known,
        tokens=tokens,
        invitations=Invitations(pool),
        passwords=Passwords(hasher),
        throttle=throttle,
        signing=signing,
        token_use=usage,
        streams=OpenStreams(callers),
        bus=bus,
    )


def print_invitation(founded: FirstAdminSetup, link: str) -> None:
    """Print the link of the first admin, who cannot learn it in another way. A program that reads
    the log gets one entry and nothing between."""
    hours, name = int(LINK_SECONDS // 3600), founded.admin.username
    # A warning: where a log shows warnings only, there would be no way in.
    emit("admin.invited", "warning", user=name, link=link, hours=hours, new=founded.is_new)
    if sys.stderr.isatty():
        words = f"Set the password of the first user, {name}, within {hours} hours:"
        sys.stderr.write(f"\n  {words}\n\n    {link}\n\n")
        sys.stderr.flush()
