"""The certificate that a daemon shows, as it tells commands on its machine.

A certificate names the hosts that clients know, and seldom 127.0.0.1. So these commands believe the
one that the daemon has told of, whatever it names, and no other. Only the standard library is
imported: completion in shells asks, too.
"""

import ssl
from pathlib import Path

BEGIN, END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"


def certificate_of(chain: Path | None) -> str:
    """Return the daemon's own certificate, the first of a chain, in PEM; "" if there is no chain or
    it cannot be read."""
    try:
        text = "" if chain is None else chain.read_text("ascii", "replace")
    except OSError:
        return ""
    _, begin, rest = text.partition(BEGIN)
    body, end, _ = rest.partition(END)
    return f"{begin}{body}{end}\n" if end else ""


def context_of(certificate: str) -> ssl.SSLContext:
    """Return the context of a client that believes this certificate alone."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # it need not have signed itself
    context.load_verify_locations(cadata=certificate)
    return context
