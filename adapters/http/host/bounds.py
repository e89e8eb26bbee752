"""Bounds of what one client may cost, and all of them together; each with what happens there."""

CONNECTIONS_MAX = 20_000  # fewer where descriptors are few; then idle ones give way, or 503
BESIDE_MAX = 16  # connections over that, for one request of an admin each; then 503 at once
BESIDE_SECONDS = 2.0  # for one of those to say what it wants; then 503
QUIET_SECONDS = 5.0  # that a user's connection has to be idle before it gives way to another one
LOOKED_AT_MAX = 16  # idle connections, for one that has sent nothing; then none gives way
TURNED_AWAY_MAX = 16  # that are told 503 and may read it in peace; then they are closed at once
RETRY_SECONDS = 1  # after which a client that got no place may ask again
BACKLOG = 4096  # of a listener, as far as the system allows; then the system turns them away

HEAD_BYTES_MAX = 16 * 1024  # a longer head is answered 431
READ_BYTES = 16 * 1024  # taken from the network at once
# Of a body that no handler wanted. If there are more, the connection is closed.
DISCARD_BYTES_MAX = 64 * 1024

SECURE_SECONDS = 10.0  # to agree on TLS; then the connection is cut
IDLE_SECONDS = 75.0  # between two requests; then the connection is closed
HEAD_SECONDS = 10.0  # from a request's first byte to the end of its head; then 408
BODY_SECONDS = 20.0  # for a body of no size; then 408
BODY_BYTES_PER_SECOND = 64 * 1024  # a larger one has a second more for each of these
ANSWER_SECONDS = 300.0  # to make an answer, its body's reading included; then 503
SEND_SECONDS = 20.0  # for a client to take its answer, or one piece of it; then it is cut off
SEND_BYTES_PER_SECOND = 64 * 1024  # a larger one has a second more for each of these
LINGER_SECONDS = 1.0  # after the last answer, for the client to read it before we hang up
LINGER_SECONDS_MAX = 20.0  # likewise, while it still sends; then it may lose the answer
CLOSE_SECONDS = 1.0  # nothing is sent any more, so nothing can hold it up
GRACE_SECONDS = 5.0  # for answers under way when the server drains; then they are cut
ACCEPTED_AT_ONCE_MAX = 64  # connections, in one turn of the event loop; others wait for the next
BUSY_SECONDS = 0.1  # without descriptors, or what else is short: wait, then accept again

PING_SECONDS = 15.0  # a socket that said nothing for so long is asked; for as long again it may
# keep its answer to itself, then it is closed
GOODBYE_SECONDS = 5.0  # for a socket to say goodbye in its turn; then we hang up without
FRAME_SECONDS = 20.0  # for a socket to take what it is sent; then it is cut off
REASON_BYTES_MAX = 123  # of a closing frame; the rest is left out
