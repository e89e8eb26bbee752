"""Where servers are set up."""

import pytest


@pytest.fixture
def servers(edge):
    return f"/api/experimental/organizations/{edge.organization}/mcp-servers"
