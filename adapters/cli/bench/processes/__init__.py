"""The processes of a run, beside the daemon that is measured.

driver        lets chats talk to the daemon, and tells what their watchers saw
chat          has one chat's requests and its stream, and reads the streams of all
conversation  follows a turn by the events of its stream                            (pure)
lines         reads and writes HTTP and WebSocket as bytes                          (pure)
floor         asks the provider as a bare client: the least that any client pays
provider      answers as a fast model that says when each delta was sent
ending        ends a process of a run when its command is gone
minder        is the parent of the daemon, and removes what it leaves
"""
