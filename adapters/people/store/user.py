"""A user, as he is stored and as others see him. What he knows (his password) is not part of it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from actors.law.ids import UserId
from adapters.postgres.driver.values import Row

OWNER = "owner"  # the role of an admin; members have none


class Standing(StrEnum):
    """The column `status`: whether he may come in."""

    ACTIVE = "active"
    DORMANT = "dormant"  # never came so far, or not for long; the next time makes him active
    SUSPENDED = "suspended"  # is not let in, nor is any token of his


@dataclass(frozen=True, slots=True)
class User:
    id: UserId
    username: str
    name: str
    email: str
    avatar_url: str
    roles: frozenset[str]
    status: Standing
    created_at: datetime
    updated_at: datetime
    last_seen_at: datetime | None
    is_deleted: bool

    @property
    def is_admin(self) -> bool:
        return OWNER in self.roles


def user_of(row: Row) -> User:
    """Of the columns that the part `user` names."""
    id, username, name, email, avatar_url, roles, status, *times, is_deleted = row
    created_at, updated_at, last_seen_at = times
    return User(
        id,
        username,
        name,
        email,
        avatar_url,
        frozenset(roles),
        Standing(status),
        created_at,
        updated_at,
        last_seen_at,
        is_deleted,
    )
