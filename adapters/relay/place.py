"""Where the processes of one start are found by others: read off the settings and the network."""

from functools import partial

from adapters.postgres.driver import reaching
from adapters.relay.address import Nowhere, own_host
from adapters.settings import Config, HostAddress
from runtime.threads import read

ADVICE = "set relay_listen to an address of this machine that the other processes reach"


async def first_address(config: Config) -> HostAddress | Nowhere:
    """Where the first process of this start is to be found by others."""
    if config.relay_listen is not None:
        return config.relay_listen
    database_side = None
    if config.database_url is not None:
        look = partial(reaching.our_end, config.database_url)
        database_side = await read(reaching.REACHING, look)
    host = own_host(config.host, database_side)
    return host if isinstance(host, Nowhere) else HostAddress(host, 0)
