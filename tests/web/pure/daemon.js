// A daemon as a watcher sees it, made of a recording: it can be connected to anew at any moment.
//
// It knows what docs/streams.md says of connections: what a beginning tells for which cursor, and
// that the pieces of a running attempt follow, all of them or those behind the cursor.

/** Return what is stored after the first `count` events of a recording. */
export function storedAfter(events, count) {
  const stored = { messages: new Map(), queue: null, status: null, error: null, calls: null, asks: [], retry: null, pieces: [], gone: 0, history: 0 };
  let gathering = false;
  for (const event of events.slice(0, count)) {
    gathering = take(stored, event, gathering);
  }
  return stored;
}

function take(stored, event, gathering) {
  switch (event.type) {
    case "message":
      stored.messages.set(event.message.id, event.message);
      return gathering;
    case "history_reset":
      stored.messages.clear();
      stored.pieces = [];
      stored.gone = Infinity; // until the next piece says which version this is
      return true;
    case "message_part":
      if (stored.gone === Infinity) stored.gone = event.message_part.history_version;
      stored.history = event.message_part.history_version;
      stored.pieces.push(event);
      stored.retry = null;
      return false;
    default:
      takeState(stored, event);
      return false;
  }
}

function takeState(stored, event) {
  if (event.type === "preview_reset") stored.pieces = [];
  if (event.type === "queue_update") stored.queue = event;
  if (event.type === "approvals") stored.asks = event.approvals;
  if (event.type === "retry") stored.retry = event;
  if (event.type === "retry") stored.pieces = [];
  if (event.type === "error") stored.error = event;
  if (event.type === "action_required") stored.calls = event;
  if (event.type !== "status") return;
  stored.status = event;
  if (event.status.status !== "error") stored.error = null;
  if (event.status.status === "running" || event.status.status === "waiting") stored.retry = null;
}

/** Return the events with which a connection begins that comes with this cursor. */
export function beginning(stored, { after_id: id = "0", after_part: part = "" }) {
  const [history = 0, attempt = 0, seq = 0] = part.split(".").map(Number);
  const last = stored.pieces.at(-1)?.message_part;
  const goesOn = last && seq > 0 && last.history_version === history && last.generation_attempt === attempt;
  const whole = stored.gone > history && stored.gone > 0;
  const events = whole ? [{ type: "history_reset" }] : [];
  for (const message of [...stored.messages.values()].sort((a, b) => a.id - b.id)) {
    if (whole || message.id > Number(id)) events.push({ type: "message", message });
  }
  if (stored.queue) events.push(stored.queue);
  if (stored.status) events.push(stored.status);
  const status = stored.status?.status.status;
  if (status === "error" && stored.error) events.push(stored.error);
  if (status === "requires_action" && stored.calls) events.push(stored.calls);
  if (stored.asks.length) events.push({ type: "approvals", approvals: stored.asks });
  if (stored.retry) events.push(stored.retry);
  if (!goesOn) events.push({ type: "preview_reset" });
  return [...events, ...stored.pieces.filter((piece) => !goesOn || piece.message_part.seq > seq)];
}
