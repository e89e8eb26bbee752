"""All that is known of people, put together: for the door, for the routes, for who names users.

    async with open_auth(pool, bus, vault, admin_token=..., access_url=...) as auth:
        Door([auth.streams.guarding(row) for row in rows], auth.callers)

Whoever changes something of a user says so (`auth.changed`): what this process keeps of him is
forgotten before that returns, what others keep as soon as they hear of it.
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
from adapters.people.auth.callers import Callers
from adapters.people.auth.open_streams import OpenStreams
from adapters.people.auth.passwords import Passwords
from adapters.people.auth.signing import Signing
from adapters.people.auth.throttle import Throttle
from adapters.people.store.deployment import Deployment, Founded, deployment, found
from adapters.people.store.invitations import LINK_SECONDS, Invitations
from adapters.people.store.known import KnownUsers
from adapters.people.store.tokens import Tokens
from adapters.people.store.usage import LAST_SECONDS, Usage
from adapters.people.store.users import Users
from adapters.postgres.driver.pool import Pool
from adapters.settings.secrets import Vault, local_token
from runtime.children import Child, open_children
from runtime.log import emit
from runtime.restart import Restart

LINK_PATH = "/join"  # what a one-time link leads to, before its code


@dataclass(frozen=True, slots=True)
class Auth:
    deployment: Deployment
    callers: Callers
    users: Users
    known: KnownUsers
    tokens: Tokens
    invitations: Invitations
    passwords: Passwords
    throttle: Throttle
    signing: Signing
    usage: Usage
    streams: OpenStreams
    bus: Bus

    def changed(self, user: UserId) -> None:
        """After the commit."""
        self.bus.tell(PersonChanged(user))

    def hear(self, news: News) -> None:
        match news:
            case PersonChanged():
                self.callers.forget(news.user)
                self.known.forget(news.user)
                self.streams.doubt(news.user)
            case HintsLost():
                self.callers.forget_all()
                self.known.forget_all()
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
) -> AsyncIterator[Auth]:
    """As long as the block is. The first admin exists then; a link for him is printed, unless
    another process `invites`. `processes`: behind this address, ours included."""
    throttle = Throttle(processes=processes)
    names = await deployment(pool)
    auth = _auth(pool, bus, vault, names=names, throttle=throttle, hasher=hasher)
    async with open_children("people", capacity=2) as children:
        with bus.follow(auth.hear, PersonChanged):
            founded = await found(
                pool, admin_token, local_token=local_token(vault), invites=invites
            )
            auth.changed(founded.admin.id)  # his configured token may have
            if founded.code is not None:
                invite(founded, f"{access_url}{LINK_PATH}/{founded.code}")
            children.start(Child(name="usage", body=auth.usage.run, restart=Restart()))
            children.start(Child(name="open streams", body=auth.streams.run, restart=Restart()))
            try:
                yield auth
            finally:
                with trio.move_on_after(LAST_SECONDS, shield=True):
                    await auth.usage.write()


def _auth(
    pool: Pool,
    bus: Bus,
    vault: Vault,
    *,
    names: Deployment,
    throttle: Throttle,
    hasher: PasswordHasher | None,
) -> Auth:
    users, tokens = Users(pool), Tokens(pool)
    usage = Usage(tokens)
    signing = Signing(csrf_key=vault.derived("csrf"), ticket_key=vault.derived("ticket"))
    callers = Callers(tokens, signing, used=usage.note)
    return Auth(
        deployment=names,
        callers=callers,
        users=users,
        known=KnownUsers(users),
        tokens=tokens,
        invitations=Invitations(pool),
        passwords=Passwords(hasher),
        throttle=throttle,
        signing=signing,
        usage=usage,
        streams=OpenStreams(callers),
        bus=bus,
    )


def invite(founded: Founded, link: str) -> None:
    """The one place where a link is told: nobody else could tell it to the first admin. Who reads a
    log with a program gets one entry and nothing between."""
    hours, name = int(LINK_SECONDS // 3600), founded.admin.username
    # Louder than news: where a log shows warnings only, nobody would get in.
    emit("admin.invited", "warning", user=name, link=link, hours=hours, new=founded.is_new)
    if sys.stderr.isatty():
        words = f"Set the password of the first user, {name}, within {hours} hours:"
        sys.stderr.write(f"\n  {words}\n\n    {link}\n\n")
        sys.stderr.flush()
