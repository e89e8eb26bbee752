// Smaller cards: the advisor, searches of the web, workspaces and their templates.

import { html } from "../../ui.js";
import { hostOf, isWebAddress } from "../addresses.js";
import { Prose } from "../prose.js";
import { counted, firstLine } from "../words.js";
import { BigText, clipped } from "./big_text.js";
import { said } from "./frame.js";
import { Terminal } from "./terminal.js";
import { Tree } from "./tree.js";

/** @typedef {import("./frame.js").Card} Card @typedef {import("./frame.js").Call} Call */

/** @param {Call} call */
function usesLeft(call) {
  const left = call.result?.remaining_uses;
  return typeof left === "number" ? [left === 0 ? "none left" : `${left} left`] : [];
}

/** @param {Call} call */
function advisorProblem(call) {
  if (call.failed) return call.error;
  return call.result?.type === "limit_reached" ? "the advisor may not be asked again in this turn" : "";
}

/** @type {Card} */
export const advisor = {
  names: ["advisor"],
  icon: "bulb",
  kind: "tools",
  line: (call) => [
    said(call, "Asking the advisor", "Asked the advisor", "The advisor could not be asked"),
    firstLine(String(call.args.question ?? "")),
  ],
  facts: usesLeft,
  problem: advisorProblem,
  news: (call) => call.running && Boolean(call.resultText),
  body: (call) => html`<div class="in">
    <p class="quiet asks">${clipped(call.args.question)}</p>
    ${(call.result?.advice || call.resultText) &&
    html`<${Prose} text=${call.result?.advice || call.resultText} grows=${call.running} />`}
    ${call.result?.advisor_model && html`<p class="meta">${clipped(call.result.advisor_model, 100)}</p>`}
  </div>`,
};

/** @param {Call} call @returns {any[]} */
function hitsOf(call) {
  const { result } = call;
  const list = Array.isArray(result) ? result : (result?.sources ?? result?.results ?? []);
  return Array.isArray(list) ? list.filter((each) => typeof each?.url === "string") : [];
}

/** @param {Call} call */
function queryOf(call) {
  const { query, queries, url } = { ...call.args, ...(call.result?.action ?? {}) };
  return clipped(query ?? (Array.isArray(queries) ? queries.join(", ") : url), 300);
}

/** @type {Card} */
export const webSearch = {
  names: ["web_search", "google_search"],
  icon: "globe",
  kind: "tools",
  line: (call) => [said(call, "Searching the web", "Searched the web", "Could not search the web"), queryOf(call)],
  facts: (call) => (hitsOf(call).length ? [counted(hitsOf(call).length, "source")] : []),
  body: (call) => {
    const hits = hitsOf(call);
    if (!hits.length) return html`<p class="in quiet">${call.running ? "Searching…" : "It names no sources here."}</p>`;
    return html`<ol class="plainlist">${hits.map(hit)}</ol>`;
  },
};

/** @param {Call} call */
function pagesOf(call) {
  const { url, urls } = call.args;
  return clipped(Array.isArray(urls) ? urls.join(", ") : (url ?? call.result?.url), 300);
}

/** @type {Card} */
export const webFetch = {
  names: ["web_fetch", "url_context"],
  icon: "globe",
  kind: "tools",
  line: (call) => [said(call, "Reading the web", "Read the web", "Could not read the web"), pagesOf(call)],
  body: (call) => {
    const { url, title, excerpt } = call.result ?? {};
    if (typeof url !== "string") return html`<p class="in quiet">${call.running ? "Reading…" : "It says nothing more here."}</p>`;
    return html`<ol class="plainlist">${hit({ url, title })}</ol>
      ${excerpt && html`<p class="in quiet">${clipped(excerpt)}</p>`}`;
  },
};

/** @param {{url: string, title?: string, page_age?: string}} found */
export const hit = ({ url, title, page_age: age }) =>
  html`<li>
    ${isWebAddress(url) && url.length < 2000 ? html`<a href=${url} target="_blank" rel="noopener noreferrer">${clipped(title || url, 200)}</a>` : clipped(title || url, 200)}
    <span class="quiet"> ${clipped(hostOf(url), 100)}${age && `, ${clipped(age, 40)}`}</span>
  </li>`;

/** @param {Call} call */
const workspaceName = (call) => String(call.result?.workspace_name ?? call.args.name ?? "");

/** @param {Call} call */
function workspaceFacts(call) {
  const { result } = call;
  if (!result) return [];
  if (result.status === "already_exists") return ["was there already"];
  if (result.status === "stopped") return ["is stopped"];
  return result.setup && result.setup.success === false ? ["its set-up failed"] : [];
}

/** @param {Call} call */
function setUpProblem(call) {
  if (call.failed) return call.error;
  const { setup } = call.result ?? {};
  return setup?.success === false ? setup.error || "its set-up failed" : "";
}

/** @param {Call} call */
function workspaceBody(call) {
  const { path, message, setup, quota } = call.result ?? {};
  return html`${path && html`<p class="in path"><code>${clipped(path)}</code></p>`}
  ${message && html`<p class="in quiet">${clipped(message)}</p>`}
  ${quota && html`<p class="in quiet">${quota.credits_consumed} of ${quota.budget} workspaces are in use.</p>`}
  ${setup && html`<h5>Set-up</h5><${Terminal} command="" output=${setup.output ?? ""} running=${false} />`}
  ${call.running && html`<p class="in quiet">The set-up is running; what it wrote is shown when it has ended.</p>`}`;
}

/**
 * @param {string} name
 * @param {string} now
 * @param {string} then
 * @param {string} not
 * @returns {Card}
 */
const workspaceCard = (name, now, then, not) => ({
  names: [name],
  icon: "box",
  kind: "tools",
  line: (call) => [said(call, `${now} the workspace`, `${then} the workspace`, `Could not ${not} the workspace`), workspaceName(call)],
  facts: workspaceFacts,
  problem: setUpProblem,
  body: workspaceBody,
  question: `May I ${not} a workspace?`,
});

export const createWorkspace = workspaceCard("create_workspace", "Making", "Made", "make");
export const startWorkspace = workspaceCard("start_workspace", "Starting", "Started", "start");
export const stopWorkspace = workspaceCard("stop_workspace", "Stopping", "Stopped", "stop");

/** @type {Card} */
export const listTemplates = {
  names: ["list_templates"],
  icon: "box",
  kind: "tools",
  line: (call) => [said(call, "Looking at the templates", "Looked at the templates", "Could not list the templates"), call.args.query ?? ""],
  facts: (call) => (call.result?.templates ? [counted(call.result.templates.length, "template")] : []),
  body: (call) =>
    html`<ul class="plainlist">
      ${(call.result?.templates ?? []).map(
        (/** @type {any} */ each) =>
          html`<li>
            <b>${clipped(each.display_name || each.name, 100)}</b> <span class="quiet">${clipped(each.description, 300)}</span>
            ${each.id === call.result.recommended_template_id && html`<span class="tag">fits best</span>`}
          </li>`,
      )}
    </ul>`,
};

/** @type {Card} */
export const readTemplate = {
  names: ["read_template"],
  icon: "box",
  kind: "tools",
  line: (call) => [
    said(call, "Reading the template", "Read the template", "Could not read the template"),
    call.result?.template?.display_name ?? call.args.template_id ?? "",
  ],
  body: (call) => {
    const { readme, limits, setup } = call.result?.template ?? {};
    return html`${readme && html`<div class="in"><${Prose} text=${readme} /></div>`}
    ${setup && html`<h5>Set-up</h5><${BigText} text=${String(setup)} />`}
    ${limits && html`<h5>Limits</h5><div class="in"><${Tree} value=${limits} /></div>`}`;
  },
};
