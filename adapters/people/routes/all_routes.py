"""All routes about people."""

from collections.abc import Sequence

from adapters.http.endpoints import Routes
from adapters.people.auth.wiring import Auth
from adapters.people.routes.accounts import Accounts, UserRights
from adapters.people.routes.organizations import Organizations
from adapters.people.routes.passwords import Credentials, InvitationPages
from adapters.people.routes.permissions import Permissions
from adapters.people.routes.sessions import SessionRoutes
from adapters.people.routes.tokens import BrowserSessions, PersonalTokens


def people_routes(auth: Auth) -> Sequence[Routes]:
    """Return the routes about people."""
    return (
        Accounts(auth),
        Credentials(auth),
        UserRights(auth),
        PersonalTokens(auth),
        BrowserSessions(auth),
        SessionRoutes(auth),
        Organizations(auth),
        Permissions(),
        InvitationPages(auth),
    )
