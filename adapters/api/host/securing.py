"""TLS: the context of a certificate and its key, and the agreement with one client."""

import ssl
from pathlib import Path

import trio

from adapters.api.host.bounds import SECURE_SECONDS
from adapters.refusals import CannotStart


def tls_of(certificate: Path, key: Path) -> ssl.SSLContext:
    """For `Server`. CannotStart if the files are not what they should be."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        fact = error.strerror or str(error)
        what = f"tls {certificate} and {key}"
        raise CannotStart(what, fact.lower(), "name a certificate and its key, in PEM") from error
    return context


async def secured(
    transport: trio.abc.HalfCloseableStream, context: ssl.SSLContext
) -> trio.abc.Stream:
    """The same connection, secret from now on. TooSlowError, or what `GONE` says, if not."""
    stream = trio.SSLStream(transport, context, server_side=True, https_compatible=True)
    with trio.fail_after(SECURE_SECONDS):
        await stream.do_handshake()
    return stream
