"""All subjects about people, for whoever puts the API together."""

from collections.abc import Sequence

from adapters.http.endpoints import Routes
from adapters.people.auth.opening import Auth
from adapters.people.routes.accounts import Accounts
from adapters.people.routes.credentials import Credentials
from adapters.people.routes.joining import Joining
from adapters.people.routes.keys import Keys
from adapters.people.routes.organizations import Organizations
from adapters.people.routes.sessions import Sessions
from adapters.people.routes.standing import Standings


def about_people(auth: Auth) -> Sequence[Routes]:
    return (
        Accounts(auth),
        Credentials(auth),
        Standings(auth),
        Keys(auth),
        Sessions(auth),
        Organizations(auth),
        Joining(auth),
    )
