// As much of a browser as the modules need that talk to the daemon: a document without anything in
// it, sockets and requests that the test answers.

export const requests = [];
export const sockets = [];

/** How requests are answered: (request) => [status, JSON or text], or it throws as fetch does. */
export const answers = { by: () => [200, {}] };

globalThis.document = { getElementById: () => null, cookie: "csrf_token=c", visibilityState: "visible", addEventListener: () => {}, removeEventListener: () => {} };
globalThis.location = new URL("http://here/c/1");
globalThis.fetch = async (url, { method = "GET", headers = {}, body } = {}) => {
  const request = { method, url, headers, body: body ? JSON.parse(body) : undefined };
  requests.push(request);
  const [status, answer] = await answers.by(request);
  const isText = typeof answer === "string";
  const kind = { "content-type": isText ? "text/plain; charset=utf-8" : "application/json" };
  return new Response(isText ? answer : answer && JSON.stringify(answer), { status, headers: kind });
};
globalThis.WebSocket = class {
  static CONNECTING = 0;

  constructor(url) {
    this.url = new URL(url);
    this.readyState = 0;
    this.isClosed = false;
    sockets.push(this);
  }

  open() {
    this.readyState = 1;
    this.onopen?.();
  }

  tell(...events) {
    this.onmessage?.({ data: `${JSON.stringify(events)}\n` });
  }

  close() {
    this.isClosed = true;
  }
};

/** Let promises and the next frame pass. */
export const settle = () => new Promise((resolve) => setTimeout(resolve, 5));

globalThis.requestAnimationFrame = (run) => setTimeout(run, 1);
globalThis.cancelAnimationFrame = clearTimeout;
