"""The headers of our pages: a browser runs and shows only what comes from this daemon. Pure."""

from collections.abc import Sequence

NOWHERE = "frame-ancestors 'none'"

_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' blob:",
    "connect-src": "'self'",
    "font-src": "'none'",
    "media-src": "'self' blob:",
    "worker-src": "'self'",
    "manifest-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
    "require-trusted-types-for": "'script'",
    # No script makes markup from text. The one name is of a policy that makes the address of the
    # worker for web push, and nothing else (assets/inbox/push.js).
    "trusted-types": "promptcorner-worker",
}


def page_headers(style: str = "'self'") -> Sequence[tuple[str, str]]:
    """Return the headers of a page. `style` is where its style may come from."""
    policy = "; ".join(f"{name} {what}" for name, what in (_POLICY | {"style-src": style}).items())
    return (
        ("content-security-policy", policy),
        ("cross-origin-opener-policy", "same-origin"),
        ("referrer-policy", "same-origin"),  # under no-referrer our forms would say Origin: null
        ("permissions-policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=()"),
        ("cache-control", "no-store"),
        ("x-robots-tag", "noindex"),
    )


PAGE_HEADERS = page_headers()


def framed_by(
    origins: Sequence[str], headers: Sequence[tuple[str, str]]
) -> Sequence[tuple[str, str]]:
    """Return the headers of a page that pages of these origins may show in a frame."""
    ancestors = f"frame-ancestors {' '.join(origins)}"
    return [
        (name, value.replace(NOWHERE, ancestors) if name == "content-security-policy" else value)
        for name, value in headers
    ]
