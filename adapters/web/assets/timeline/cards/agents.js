// Agents: those that were spawned and waited for in one card, and what is said to them.

import { html, memo } from "../../ui.js";
import { icon } from "../../shared/icons.js";
import { Prose } from "../prose.js";
import { Elapsed } from "../ticking.js";
import { counted, duration, firstLine, shortened } from "../words.js";
import { timeOf } from "../calls.js";
import { Button, useToggle } from "../controls.js";
import { callWords } from "./asks.js";
import { BigText, clipped } from "./big_text.js";
import { Film } from "./film.js";
import { CallLine, said } from "./frame.js";

/** @typedef {import("./frame.js").Card} Card @typedef {import("./frame.js").Call} Call */
/** @typedef {import("./frame.js").At} At */

/**
 * @typedef {{id: string, key: string, title: string, status: string, doing: string, report: string,
 *   error: string, type: string, began: number | null, ended: number | null, timedOut: boolean,
 *   isNew: boolean, film: string, thumbnail: string}} Agent
 */

const AT_WORK = new Set(["running", "interrupting", "writing"]);

/**
 * Return the agents that calls are about, with the latest that is known of each.
 * @param {readonly Call[]} calls
 * @param {At} at
 * @returns {Agent[]}
 */
export function agentsOf(calls, at) {
  /** @type {Map<string, Agent>} */
  const agents = new Map();
  for (const call of calls) for (const told of documentsOf(call)) join(agents, told, call);
  return [...agents.values()].map((agent) => withLife(agent, at.agent(agent.id)));
}

/** @param {Call} call @returns {any[]} */
function documentsOf(call) {
  const { result, args } = call;
  if (call.name === "spawn_agent") {
    const asked = { title: args.title || shortened(firstLine(String(args.prompt ?? "")), 60), type: args.type };
    return [{ ...asked, ...(result?.chat_id ? result : {}), key: call.key, isNew: true, failed: call.error }];
  }
  if (Array.isArray(result?.agents)) return result.agents;
  if (result?.chat_id) return [result];
  return [args.chat_id, ...(args.chat_ids ?? [])].filter(Boolean).map((id) => ({ chat_id: id }));
}

/** @param {Map<string, Agent>} agents @param {any} told @param {Call} call */
function join(agents, told, call) {
  const id = String(told.chat_id ?? told.key);
  const old = agents.get(id);
  agents.set(id, {
    id: told.chat_id ? id : "",
    key: old?.key ?? id,
    title: clipped(told.title || old?.title || "An agent", 200),
    status: told.status ?? old?.status ?? (call.running ? "running" : call.failed ? "error" : call.state),
    doing: old?.doing ?? "",
    report: told.report ?? old?.report ?? "",
    error: told.failed || told.last_error || old?.error || "",
    type: told.type ?? old?.type ?? "",
    began: old?.began ?? (told.isNew ? call.began : null),
    ended: told.status && !AT_WORK.has(told.status) ? call.ended : (old?.ended ?? null),
    timedOut: Boolean(told.timed_out),
    isNew: told.isNew ?? old?.isNew ?? false,
    film: String(told.recording_file_id ?? old?.film ?? ""),
    thumbnail: String(told.thumbnail_file_id ?? old?.thumbnail ?? ""),
  });
}

/** @param {Agent} agent @param {any} chat @returns {Agent} */
function withLife(agent, chat) {
  if (!chat) return agent;
  const asks = chat.approvals?.[0];
  return {
    ...agent,
    title: chat.title || agent.title,
    status: asks ? "asks" : chat.status,
    doing: asks ? `asks to ${callWords(asks)}` : (chat.last_turn_summary ?? ""),
    error: chat.last_error?.message ?? agent.error,
    began: agent.began ?? timeOf(chat.created_at),
    ended: AT_WORK.has(chat.status) ? null : (agent.ended ?? timeOf(chat.updated_at)),
  };
}

/** @param {Agent} agent */
function lightOf(agent) {
  if (agent.status === "asks" || agent.status === "requires_action") return "ask";
  if (agent.status === "error" || (!agent.id && agent.error)) return "bad";
  return AT_WORK.has(agent.status) ? "go" : "off";
}

/** @param {Agent} agent */
function secondLine(agent) {
  if (agent.error && lightOf(agent) === "bad") return agent.error;
  if (agent.status === "asks") return agent.doing;
  if (agent.report) return firstLine(agent.report.replace(/^[#>\-\s]+|[*`]/g, ""), 140);
  if (agent.timedOut) return "Was not ready in time; it goes on.";
  return agent.doing || (agent.type === "explore" ? "looks, and changes nothing" : "");
}

const LIGHTS = { ask: "needs you", bad: "failed", go: "working", off: "idle" };

/** @param {{agent: Agent, at: At}} props */
const AgentRow = memo(({ agent, at }) => {
  const light = lightOf(agent);
  const key = `${agent.key}.report`;
  const isOpen = at.opened(key) ?? false;
  const onToggle = useToggle(key, isOpen, at);
  const took = agent.began !== null && agent.ended !== null ? duration(agent.ended - agent.began) : "";
  const line = html`<i class=${`cue ${light}`} role="img" aria-label=${LIGHTS[light]}></i>
    <span class="what">${agent.title}</span>
    <span class="r">${light === "go" ? html`<${Elapsed} since=${agent.began} />` : light === "ask" ? "waits" : took}</span>
    <small class=${light}>${secondLine(agent)}</small>`;
  return html`<div class="kid" data-agent=${agent.id}>
    ${agent.id ? html`<a class="kid1" href=${`/c/${agent.id}`}>${line}</a>` : html`<div class="kid1">${line}</div>`}
    ${agent.report &&
    html`<details class="report" open=${isOpen} onToggle=${onToggle}>
      <summary>Its report${icon("chev")}</summary>
      ${isOpen && html`<div class="in"><${Prose} text=${agent.report} /></div>`}
    </details>`}
    ${agent.film && html`<${Film} film=${at.href(agent.film)} thumbnail=${agent.thumbnail && at.href(agent.thumbnail)} title=${agent.title} />`}
  </div>`;
});

/** Agents that were spawned or waited for. @param {{calls: readonly Call[], at: At}} props */
export const Agents = memo((/** @type {{calls: readonly Call[], at: At}} */ { calls, at }) => {
  const faults = calls.filter((call) => call.failed && call.name !== "spawn_agent");
  const agents = agentsOf(calls.filter((call) => !faults.includes(call)), at);
  const done = agents.filter((agent) => lightOf(agent) === "off").length;
  const spawned = agents.some((agent) => agent.isNew);
  const waits = calls.some((call) => call.running && call.name === "wait_agent");
  if (!agents.length) return faults.map((call) => html`<${CallLine} card=${spawnAgent} call=${call} at=${at} />`);
  const head = spawned ? counted(agents.length, "agent") : `Waited for ${counted(agents.length, "agent")}`;
  return html`<section class="card agentcard" data-call=${calls[0].key} aria-label=${head}>
    <header>
      ${icon("tree")}<b>${waits && !spawned ? head.replace("Waited", "Waiting") : head}</b>
      <span class="r">${done > 0 && agents.length > 1 && `${done} done`}${waits && html`<i class="cue go"></i>waits for them`}</span>
    </header>
    <div class="kids">${agents.map((agent) => html`<${AgentRow} key=${agent.key} agent=${agent} at=${at} />`)}</div>
    ${faults.map((call) => html`<p class="in bad">They could not be waited for: ${call.error}</p>`)}
  </section>`;
});

/** @param {Call} call @param {At} at */
function nameOf(call, at) {
  return at.agent(String(call.args.chat_id))?.title ?? call.result?.title ?? "an agent";
}

/** @type {Card} */
export const spawnAgent = {
  names: ["spawn_agent", "wait_agent"],
  icon: "tree",
  kind: "tools",
  line: (call) =>
    call.name === "wait_agent"
      ? [said(call, "Waiting for agents", "Waited for agents", "Could not wait for agents")]
      : [said(call, "Asking an agent", "Asked an agent", "Could not ask an agent"), call.args.title ?? ""],
  view: (call, at) => html`<${Agents} calls=${[call]} at=${at} />`,
  question: "May I ask an agent?",
  ask: (call) =>
    html`${call.args.title && html`<p class="in">${call.args.title}</p>`}
      ${call.args.prompt && html`<${BigText} text=${String(call.args.prompt)} />`}`,
};

/** @type {Card} */
export const messageAgent = {
  names: ["message_agent"],
  icon: "tree",
  kind: "tools",
  line: (call, at) => [`${said(call, "Telling", "Told", "Could not tell")} ${nameOf(call, at)}`, firstLine(call.args.message ?? "")],
  facts: (call) => (call.result?.interrupted ? ["interrupted it first"] : []),
  body: (call, at) =>
    html`<div class="in"><${Prose} text=${String(call.args.message ?? "")} /></div>
      ${openChild(call, at)}`,
};

/** @param {Call} call @param {At} at */
const openChild = (call, at) =>
  call.args.chat_id &&
  html`<footer><${Button} label="Open it" onClick=${() => at.do("chat.open", { chat: call.args.chat_id })} /></footer>`;

/** @type {Card} */
export const interruptAgent = {
  names: ["interrupt_agent", "close_agent"],
  icon: "stop",
  kind: "tools",
  line: (call, at) => [said(call, "Stopping", "Stopped", "Could not stop"), nameOf(call, at)],
  facts: (call) => (call.result?.interrupted === false ? ["it rested already"] : []),
};

/** @type {Card} */
export const listAgents = {
  names: ["list_agents"],
  icon: "tree",
  kind: "tools",
  line: (call) => [said(call, "Looking at its agents", "Looked at its agents", "Could not list its agents")],
  facts: (call) => (call.result?.agents ? [counted(call.result.total ?? call.result.agents.length, "agent")] : []),
  body: (call, at) =>
    html`<div class="kids">
      ${agentsOf([call], at).map((agent) => html`<${AgentRow} key=${agent.key} agent=${agent} at=${at} />`)}
    </div>`,
};

/** @type {Card} */
export const agentModels = {
  names: ["list_subagent_models"],
  icon: "tree",
  kind: "tools",
  line: (call) => [said(call, "Looking at the models", "Looked at the models", "Could not list the models"), "for its agents"],
  facts: (call) => (call.result?.models ? [counted(call.result.models.length, "model")] : []),
  body: (call) =>
    html`<ul class="plainlist">
      ${(call.result?.models ?? []).map(
        (/** @type {any} */ model) =>
          html`<li>${clipped(model.display_name || model.model, 200)} <span class="quiet">${clipped(model.provider, 100)}${model.is_default && ", the default"}</span></li>`,
      )}
    </ul>`,
};
