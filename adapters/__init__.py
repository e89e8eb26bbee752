"""The world: the only place with drivers, sockets, files and wire types; one room a product area.

A room imports only the rooms above it in this list.

settings/    the table of settings, secrets, logs, names of hosts
postgres/    the driver, the embedded server, migrations, the ledger of chats, the bus
http/        the host and the door: what every route stands on
people/      accounts, tokens, sessions, passwords, scopes
rehearsal/   the fake providers
models/      the catalogue, the providers of each vendor, the HTTP client, prices
workspaces/  files, sandbox, processes, templates, context files, skills
access/      who may see and change a chat, and what a sender has to pass
plugins/     code of others: loaded, run apart and watched
tools/       the toolbox, built-in tools, MCP, approvals
chats/       the routes of chats: messages, queue, turns, streams, sharing, files, search
relay/       live pieces between processes
web/         the web interface: the files of the page, login, the shell
daemon/      wiring, metrics, processes, systemd
cli/         the commands
"""
