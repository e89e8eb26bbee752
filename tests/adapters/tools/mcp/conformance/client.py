"""The client that the conformance suite starts for each scenario: it tells the test that waits at a
port of what it is to do, and ends as the test says. Nothing but the standard library is loaded.

    python client.py PORT URL
"""

import json
import os
import socket
import sys

SCENARIO, CONTEXT = "MCP_CONFORMANCE_SCENARIO", "MCP_CONFORMANCE_CONTEXT"


def main(port, url):
    told = {
        "scenario": os.environ[SCENARIO],
        "context": json.loads(os.environ.get(CONTEXT, "{}")),
        "url": url,
    }
    with socket.create_connection(("127.0.0.1", int(port))) as connection:
        connection.sendall(json.dumps(told).encode() + b"\n")
        why = connection.makefile("r", encoding="utf-8").readline()
    if not why.endswith("\n"):
        return "the test is over"
    return json.loads(why)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) or 0)
