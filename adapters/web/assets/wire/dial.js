// The two ways in which the daemon tells news: a WebSocket, and server-sent events.

/**
 * Open a WebSocket whose frames are JSON; or bytes, for one who is told of it when it has `opened`.
 * @param {string} path
 * @param {import("./line.js").Hear} hear
 * @param {(socket: WebSocket) => void} [opened]
 * @returns {() => void} hangs up
 */
export function dialSocket(path, hear, opened) {
  const url = new URL(path, location.href);
  url.protocol = url.protocol.replace("http", "ws");
  const socket = new WebSocket(url);
  socket.binaryType = "arraybuffer";
  socket.onopen = () => (opened?.(socket), hear.open());
  socket.onmessage = (event) => hear.data(opened ? event.data : JSON.parse(event.data));
  socket.onclose = (event) => hear.closed(event.code);
  return () => {
    socket.onopen = socket.onmessage = socket.onclose = null;
    // One that is closed before it is open is an error on the console of some browsers.
    if (socket.readyState === WebSocket.CONNECTING) socket.onopen = () => socket.close(1000);
    else socket.close(1000);
  };
}

/**
 * Open a stream of server-sent events; each is heard as a frame of one.
 * @param {string} path
 * @param {import("./line.js").Hear} hear
 * @returns {() => void} hangs up
 */
export function dialEvents(path, hear) {
  const source = new EventSource(path);
  source.onopen = () => hear.open();
  source.onmessage = (event) => hear.data([JSON.parse(event.data)]);
  source.addEventListener("heartbeat", () => hear.data(null));
  source.addEventListener("end", () => hear.closed());
  source.onerror = () => hear.closed(); // it would dial again by itself, without our waits
  return () => source.close();
}
