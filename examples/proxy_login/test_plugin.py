"""The plugin passes the checks for identity sources: pytest examples/proxy_login."""

from functools import partial

import trio
from promptcorner_example_proxy_login import ProxyLogin

from promptcorner import ext
from promptcorner.ext.testing import check_identity

ANN = {"x-forwarded-user": "ann"}


def test_only_a_proxy_of_ours_is_believed():
    check = partial(
        check_identity,
        ProxyLogin(),
        known={"ann": ext.IdentityRequest("GET", "/", ANN, "10.0.0.1", True)},
        unknown=[
            ext.IdentityRequest("GET", "/", ANN, "192.0.2.1", False),
            ext.IdentityRequest("GET", "/", {"x-forwarded-user": " "}, "10.0.0.1", True),
        ],
    )
    trio.run(check)
