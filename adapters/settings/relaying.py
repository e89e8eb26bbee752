"""Where the processes of one start are found by others: what does not go together. Pure.

Each has an address of its own: the next port of `relay_listen`, and the next one of `relay_url` if
that is how the others see it.
"""

from urllib.parse import urlsplit

from adapters.settings.kinds import PORT_MAX, Address
from adapters.settings.refusals import CannotStart

EVERY_ADDRESS = ("0.0.0.0", "::")


def heed_relay(listen: Address | None, url: str | None, *, processes: int) -> None:
    """CannotStart if the others would look for a process where it is not."""
    if listen is not None:
        if url is None and listen.host in EVERY_ADDRESS:
            fact = f"relay_listen={listen} is every address of this machine, others need one"
            raise CannotStart("config", fact, "name it there, or in relay_url")
        _heed_ports("relay_listen", listen.port, processes)
    if url is not None:
        _heed_url(url, listen, processes=processes)


def _heed_url(url: str, listen: Address | None, *, processes: int) -> None:
    if listen is None or listen.port == 0:
        fact = f"relay_url={url} leads to no port that is known"
        raise CannotStart("config", fact, "set relay_listen to HOST:PORT with that port")
    port = urlsplit(url).port
    if port is None and processes > 1:
        fact = f"relay_url={url} has no port, and {processes} processes need one each"
        raise CannotStart("config", fact, "add that of the first, the others take the next ones")
    _heed_ports("relay_url", port or 0, processes)


def _heed_ports(name: str, first: int, processes: int) -> None:
    """0: any port, or none."""
    last = first + processes - 1
    if first and last > PORT_MAX:
        fact = f"{processes} processes take the ports {first}..{last} of {name}"
        raise CannotStart("config", fact, f"the first must be {last - PORT_MAX} less, or lower")
