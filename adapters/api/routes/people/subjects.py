"""All subjects about people, for whoever puts the API together."""

from collections.abc import Sequence

from adapters.api.auth.opening import Auth
from adapters.api.endpoints import Routes
from adapters.api.routes.people.accounts import Accounts
from adapters.api.routes.people.credentials import Credentials
from adapters.api.routes.people.joining import Joining
from adapters.api.routes.people.keys import Keys
from adapters.api.routes.people.organizations import Organizations
from adapters.api.routes.people.sessions import Sessions
from adapters.api.routes.people.standing import Standings


def about_people(auth: Auth, *, access_url: str | None) -> Sequence[Routes]:
    """Links lead to `access_url`; if none is set, to where the client that asks has reached us."""
    return (
        Accounts(auth, access_url=access_url),
        Credentials(auth, access_url=access_url),
        Standings(auth),
        Keys(auth),
        Sessions(auth),
        Organizations(auth),
        Joining(auth),
    )
