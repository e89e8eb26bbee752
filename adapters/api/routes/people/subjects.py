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
