"""TLS: the context of a certificate and its key, and the agreement with one client.

What is offered is Mozilla's intermediate profile: TLS 1.2 and 1.3, suites that encrypt and
authenticate in one step with keys that are agreed on anew each time, and three curves. The client's
order counts, since it knows what its machine is quick at. No session is kept for a client that
comes again: the key that would seal it would live as long as the daemon, which is for months.
"""

import _ssl
import ctypes
import ssl
import sys
from pathlib import Path

import trio

from adapters.http.host.bounds import SECURE_SECONDS
from adapters.settings.refusals import CannotStart
from runtime.log import emit

SUITES = (  # of TLS 1.2; those of TLS 1.3 are all three that the library has
    "ECDHE-ECDSA-AES128-GCM-SHA256",
    "ECDHE-RSA-AES128-GCM-SHA256",
    "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384",
    "ECDHE-ECDSA-CHACHA20-POLY1305",
    "ECDHE-RSA-CHACHA20-POLY1305",
)
CURVES = ("X25519", "P-256", "P-384")
ONLY_CURVE = "prime256v1"  # where the library cannot be told of several; every client has it

_SET_GROUPS_LIST = 92  # SSL_CTRL_SET_GROUPS_LIST of <openssl/ssl.h>


def tls_of(certificate: Path, key: Path) -> ssl.SSLContext:
    """Return the context of `HttpServer`. CannotStart says what is wrong with the files."""
    context = intermediate_context()
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        fact = error.strerror or str(error)
        what = f"tls {certificate} and {key}"
        raise CannotStart(what, fact.lower(), "name a certificate and its key, in PEM") from error
    return context


def intermediate_context() -> ssl.SSLContext:
    """Return a server's context that offers what the head of this file says, and nothing else."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(":".join(SUITES))
    context.options &= ~ssl.OP_CIPHER_SERVER_PREFERENCE
    context.options |= ssl.OP_NO_TICKET | ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION
    context.num_tickets = 0
    if not _set_curves(context, CURVES):
        context.set_ecdh_curve(ONLY_CURVE)
        emit("tls.narrow", "info", curve=ONLY_CURVE, why="OpenSSL cannot be told of several")
    return context


def _set_curves(context: ssl.SSLContext, curves: tuple[str, ...]) -> bool:
    """Set the curves that the context offers; return whether that could be done.

    Python's `ssl` can name several from 3.15 on. Before, OpenSSL is asked: in CPython its context
    is the first field of Python's own. `SSL_CTX_ctrl` says 0 to names that it does not know.
    """
    names = ":".join(curves)
    if hasattr(context, "set_groups"):
        context.set_groups(names)
        return True
    if sys.implementation.name != "cpython":
        return False
    try:
        control = ctypes.CDLL(_ssl.__file__).SSL_CTX_ctrl
    except (AttributeError, OSError):  # linked into the interpreter, without its names
        return False
    control.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_long, ctypes.c_char_p)
    control.restype = ctypes.c_long
    behind = ctypes.c_void_p.from_address(id(context) + object.__basicsize__)
    return bool(control(behind, _SET_GROUPS_LIST, 0, names.encode()) == 1)


async def secured(
    transport: trio.abc.HalfCloseableStream, context: ssl.SSLContext
) -> trio.abc.Stream:
    """Agree on TLS with a client, and return the encrypted connection. A client that is too slow or
    gone raises TooSlowError or one of `GONE`."""
    stream = trio.SSLStream(transport, context, server_side=True, https_compatible=True)
    with trio.fail_after(SECURE_SECONDS):
        await stream.do_handshake()
    return stream
