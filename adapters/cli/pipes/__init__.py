"""Chats for scripts: one answer on standard output, or the events of a chat as lines of JSON.

command        reads the arguments of `chat -m` and of `watch`
turn           sends the message and follows its turn to the end
ending         ends them by ctrl-C, and turns errors into ends
watching       follows a chat that others talk to
outcomes       lists how a turn ends, with the exit codes                        (pure)
records        makes the lines of `--json` of the events of a chat               (pure)
printing       prints records, as JSON or as text
output_schema  asks for an answer that fits a JSON Schema, and looks if it does
"""
