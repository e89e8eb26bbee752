// Requests: what is said of those that are refused, and which are made again.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { answers, requests } from "./browser.js";

const { api, disposition } = await import("../../../adapters/web/assets/wire/api.js");

const FORGED = "CSRF token missing or wrong: send the value of the cookie csrf_token as X-CSRF-TOKEN.\n";

beforeEach(() => {
  requests.length = 0;
  document.cookie = "csrf_token=c";
});

test("a refusal says what was not done, why, and at which field", async () => {
  const validations = [{ field: "title", detail: "is too long" }];
  answers.by = () => [400, { message: "Invalid request.", detail: "see below", validations }];

  await assert.rejects(api.patch("chats/1", { title: "x" }), { status: 400, message: "Invalid request.", detail: "see below", validations });
});

test("a refusal in plain text is said with its first sentence", async () => {
  answers.by = () => [413, "The body is too large. At most 4 MiB.\n"];

  await assert.rejects(api.post("chats", {}), { status: 413, message: "The body is too large." });
});

test("a page of a proxy is not shown", async () => {
  globalThis.fetch = ((before) => async () => {
    globalThis.fetch = before;
    return new Response("<html>Bad gateway", { status: 502, headers: { "content-type": "text/html" } });
  })(globalThis.fetch);

  await assert.rejects(api.get("chats"), { status: 502, message: "The daemon answered 502." });
});

test("a daemon that cannot be reached is none that refuses", async () => {
  answers.by = () => {
    throw new TypeError("Failed to fetch");
  };

  await assert.rejects(api.get("chats"), { status: 0, message: "The daemon cannot be reached." });
});

test("a lost CSRF cookie comes again with a page, and the request is made again", async () => {
  document.cookie = "";
  answers.by = ({ url, headers }) => {
    if (url === "/new") document.cookie = "csrf_token=again";
    return url === "/new" || headers["x-csrf-token"] === "again" ? [200, { done: true }] : [400, FORGED];
  };

  assert.deepEqual(await api.post("chats", { a: 1 }), { done: true });
  assert.deepEqual(requests.map((one) => one.url), ["/api/experimental/chats", "/new", "/api/experimental/chats"]);
});

test("one that cannot be had again is said to be missing, once", async () => {
  answers.by = ({ url }) => (url === "/new" ? [200, {}] : [400, FORGED]);

  await assert.rejects(api.post("chats"), { status: 400, message: "CSRF token missing or wrong." });
  assert.equal(requests.length, 2);
});

test("queries leave out what is not there, and repeat what is a list", async () => {
  answers.by = () => [200, []];
  await api.get("chats", { q: "a b", label: ["x:1", "y:2"], after_id: undefined, limit: null });

  assert.equal(requests[0].url, "/api/experimental/chats?q=a+b&label=x%3A1&label=y%3A2");
});

test("names of files survive the way", () => {
  assert.equal(disposition("a.png"), 'attachment; filename="a.png"');
  assert.equal(disposition('é"(1).png'), "attachment; filename=\"__(1).png\"; filename*=UTF-8''%C3%A9%22%281%29.png");
});
