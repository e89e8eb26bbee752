// Requests to the daemon.
//
//   api.get(path, query)                 → the answer's JSON, undefined where there is none
//   api.post(path, body, {key})          likewise .patch, .put, .del; `key`: Idempotency-Key
//   api.upload(file, {progress, signal, name, type})   → {id} of the stored file
//   ApiError {status, message, detail, validations, retryAfter, kind, body}
//
// A path that does not begin with "/" lies below /api/experimental: api.get("chats", {limit: 50}).
// `status` 0: the daemon could not be reached. A 401 shows the login, waits for it, and repeats the
// request; so does a refusal of the CSRF value, once, if there is another one by now. All take
// {signal} as their last argument, to be given up; what is given up raises AbortError. A GET whose
// answer came with the page is answered by that, once.

import { csrf, untilLoggedIn } from "../session.js";
import { takeAnswer } from "../shell.js";
import { hearDate, now } from "./clock.js";

const BASE = "/api/experimental/";
const SECONDS_MAX = 120; // of one request; then it counts as not answered (titles ask a model)

/** A request that was refused, or was not answered. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {any} body
   * @param {number | null} retryAfter seconds
   */
  constructor(status, body, retryAfter = null) {
    super(body?.message || (status ? `The daemon answered ${status}.` : "The daemon cannot be reached."));
    this.name = "ApiError";
    this.status = status;
    /** @type {string} */
    this.detail = body?.detail ?? "";
    /** @type {{field: string, detail: string}[]} */
    this.validations = body?.validations ?? [];
    /** @type {string | undefined} */
    this.kind = body?.kind;
    this.retryAfter = retryAfter;
    this.body = body;
  }
}

/**
 * @typedef {{key?: string, signal?: AbortSignal, headers?: Record<string, string>, keepalive?: boolean,
 *   again?: boolean}} Options  keepalive: also when the page ends; again: this is the second try
 * @typedef {Record<string, string | number | boolean | null | undefined | readonly string[]>} Query
 */

export const api = {
  /** @param {string} path @param {Query} [query] @param {Options} [options] @returns {Promise<any>} */
  get: async (path, query, options) => {
    const url = address(path, query);
    return takeAnswer(url) ?? ask("GET", url, undefined, options);
  },
  /** @param {string} path @param {unknown} [body] @param {Options} [options] @returns {Promise<any>} */
  post: (path, body, options) => ask("POST", address(path), body, options),
  /** @param {string} path @param {unknown} [body] @param {Options} [options] @returns {Promise<any>} */
  patch: (path, body, options) => ask("PATCH", address(path), body, options),
  /** @param {string} path @param {unknown} [body] @param {Options} [options] @returns {Promise<any>} */
  put: (path, body, options) => ask("PUT", address(path), body, options),
  /** @param {string} path @param {unknown} [body] @param {Options} [options] @returns {Promise<any>} */
  del: (path, body, options) => ask("DELETE", address(path), body, options),
  upload,
};

/**
 * Return the address of a path with a query; what is null or undefined is left out of it.
 * @param {string} path
 * @param {Query} [query]
 */
export function address(path, query = {}) {
  const found = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) found.append(name, String(one));
  }
  const whole = path.startsWith("/") ? path : BASE + path;
  return found.size ? `${whole}?${found}` : whole;
}

/**
 * @param {string} method
 * @param {string} url
 * @param {unknown} body
 * @param {Options} [options]
 * @returns {Promise<any>}
 */
async function ask(method, url, body, options = {}) {
  const sent = csrf();
  const answer = await fetched(method, url, body, options);
  if (answer.ok) return read(answer);
  const error = new ApiError(answer.status, await read(answer), secondsOf(answer));
  if (answer.status === 401) {
    await untilLoggedIn();
    return ask(method, url, body, options);
  }
  if (isForged(error) && !options.again && (await csrfAgain(sent))) {
    return ask(method, url, body, { ...options, again: true });
  }
  throw error;
}

/**
 * Return whether a request was refused because of its CSRF value, which is said in plain text.
 * @param {ApiError} error
 */
const isForged = (error) => error.status === 400 && error.message.startsWith("CSRF");

/**
 * Return whether there is another CSRF value by now: another tab has logged in, or the cookie was
 * lost and comes again with a page.
 * @param {string} sent
 */
async function csrfAgain(sent) {
  if (csrf() === sent) await fetch("/new", { credentials: "same-origin" }).catch(() => null);
  return csrf() !== "" && csrf() !== sent;
}

/** @param {string} method @param {string} url @param {unknown} body @param {Options} options */
async function fetched(method, url, body, { key, signal, keepalive = false, headers: more }) {
  /** @type {Record<string, string>} */
  const headers = { accept: "application/json", ...more };
  if (method !== "GET") headers["x-csrf-token"] = csrf();
  if (key) headers["idempotency-key"] = key;
  if (body !== undefined) headers["content-type"] = "application/json";
  const limit = AbortSignal.timeout(SECONDS_MAX * 1000);
  const asked = Date.now();
  try {
    const answer = await fetch(url, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      credentials: "same-origin",
      keepalive,
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    });
    hearDate(answer.headers.get("date"), asked);
    return answer;
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, { detail: String(error) });
  }
}

/** @param {Response} answer */
async function read(answer) {
  const text = await answer.text().catch(() => "");
  if (!text) return undefined;
  const isPlain = answer.headers.get("content-type")?.startsWith("text/plain");
  return parsed(text) ?? (isPlain ? plainly(text) : {});
}

/**
 * Return what a text says as the API would say it: its first sentence, and all of it.
 * @param {string} text
 */
function plainly(text) {
  const first = /^[^\n]*?[.:](?=\s|$)|^[^\n]*/.exec(text.trim())?.[0] ?? "";
  return { message: first.replace(/:$/, "."), detail: text.slice(0, 1000) };
}

/** @param {Response} answer */
function secondsOf(answer) {
  const said = answer.headers.get("retry-after");
  if (!said) return null;
  const seconds = /^\d+$/.test(said) ? Number(said) : (Date.parse(said) - now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : null;
}

/** @type {Promise<string> | null} */
let organization = null;

function organizationId() {
  organization ??= api.get("/api/v2/users/me").then((me) => me.organization_ids[0]);
  organization.catch(() => (organization = null));
  return organization;
}

/**
 * Store a file. `progress` hears of the share that is sent, 0 to 1.
 * @param {Blob & {name?: string}} file
 * @param {{progress?: (share: number) => void, signal?: AbortSignal, name?: string,
 *   type?: string}} [options]
 * @returns {Promise<{id: string}>}
 */
async function upload(file, options = {}) {
  const url = address("chats/files", { organization: await organizationId() });
  const before = csrf();
  try {
    return await sent(url, file, options);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401) await untilLoggedIn();
    else if (!isForged(error) || !(await csrfAgain(before))) throw error;
    return sent(url, file, options);
  }
}

/**
 * @param {string} url
 * @param {Blob & {name?: string}} file
 * @param {{progress?: (share: number) => void, signal?: AbortSignal, name?: string,
 *   type?: string}} options
 * @returns {Promise<{id: string}>}
 */
function sent(url, file, { progress, signal, name = file.name ?? "file", type = file.type }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest(); // fetch does not say how much has been sent
    const given = () => reject(new DOMException("given up", "AbortError"));
    if (signal?.aborted) return given();
    request.open("POST", url);
    request.setRequestHeader("content-type", type || "application/octet-stream");
    request.setRequestHeader("content-disposition", disposition(name));
    request.setRequestHeader("x-csrf-token", csrf());
    request.upload.onprogress = (event) => progress?.(event.total ? event.loaded / event.total : 0);
    request.onerror = () => reject(new ApiError(0, null));
    request.onabort = given;
    request.onload = () => {
      const body = parsed(request.responseText) ?? plainly(request.responseText);
      if (request.status === 201) resolve(body);
      else reject(new ApiError(request.status, body, Number(request.getResponseHeader("retry-after")) || null));
    };
    signal?.addEventListener("abort", () => request.abort(), { once: true });
    request.send(file);
  });
}

/** Return the JSON in a text, or undefined. @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Return the header that names a file. Names beyond ASCII go as RFC 8187 says.
 * @param {string} name
 */
export function disposition(name) {
  const plain = name.replace(/[^ -~]|["\\]/g, "_");
  const exact = encodeURIComponent(name.toWellFormed()).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  return plain === name
    ? `attachment; filename="${name}"`
    : `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}
