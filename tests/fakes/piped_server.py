"""A server of tools over pipes that does what its first argument says, whether or not it is MCP.

python -m tests.fakes.piped_server well
"""

import json
import os
import sys
import time

TOOLS = [{"name": "echo", "description": "Says it again.", "inputSchema": {"type": "object"}}]


def say(document):
    sys.stdout.write(json.dumps(document) + "\n")
    sys.stdout.flush()


def answer(asked, result):
    say({"jsonrpc": "2.0", "id": asked["id"], "result": result})


def refuse(asked):
    error = {"code": -32601, "message": "no such method"}
    say({"jsonrpc": "2.0", "id": asked["id"], "error": error})


def text(words):
    return {"content": [{"type": "text", "text": words}]}


def initialized(asked):
    version = asked["params"]["protocolVersion"]
    server = {"name": "piped", "version": "1"}
    answer(asked, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server})


def called(asked, how):
    arguments = asked["params"].get("arguments") or {}
    match how:
        case "dies":
            sys.stderr.write("it was too much\n")
            sys.exit(3)
        case "dozes":
            words = arguments.get("words", "")
            answer(asked, text(f"{len(words)} {os.getpid()}"))
            while not os.path.exists(arguments.get("until", "/")):
                time.sleep(0.01)  # and reads nothing meanwhile
        case "hangs-at-call":
            time.sleep(3600)
        case "big":
            answer(asked, text("x" * int(arguments["bytes"])))
        case "cuts":
            answer(asked, text("cut \ud83d"))
        case "endless":
            while True:
                sys.stdout.write("x" * 65_536)
        case _:
            facts = {"pid": os.getpid(), "cwd": os.getcwd(), "environ": dict(os.environ)}
            answer(asked, text(json.dumps({**arguments, **facts})))


def serve(how):
    if how == "breaks":
        sys.stderr.write("cannot find what I need\n")
        sys.exit(7)
    if how == "chats":
        print("Welcome to the server!", flush=True)
    if how == "hangs":
        time.sleep(3600)
    if how.startswith("slow-"):
        time.sleep(float(how.removeprefix("slow-")))
    for line in sys.stdin:
        asked = json.loads(line)
        match asked.get("method"):
            case "server/discover" if how == "old":
                pass
            case "initialize":
                initialized(asked)
            case "tools/list" if how == "hangs-at-list":
                time.sleep(3600)
            case "tools/list" if how == "asks":
                while True:  # and never reads what it is answered
                    say({"jsonrpc": "2.0", "id": "again", "method": "ping"})
            case "tools/list" if how == "floods":
                while True:
                    say({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
            case "tools/list":
                answer(asked, {"tools": TOOLS})
            case "tools/call":
                called(asked, how)
            case _ if "id" in asked:
                refuse(asked)
    if how == "stays":
        time.sleep(3600)


if __name__ == "__main__":
    serve(sys.argv[1])
