"""The headers of our pages: a browser runs and shows only what comes from this daemon. Pure."""

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
    "trusted-types": "'none'",
}

PAGE_HEADERS = (
    ("content-security-policy", "; ".join(f"{name} {what}" for name, what in _POLICY.items())),
    ("cross-origin-opener-policy", "same-origin"),
    ("referrer-policy", "same-origin"),  # under no-referrer a form of ours would say Origin: null
    ("permissions-policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=()"),
    ("cache-control", "no-store"),
    ("x-robots-tag", "noindex"),
)
