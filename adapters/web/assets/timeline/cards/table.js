// Which card draws the calls of which tool. A new card is a file and a row here.

import "../../shared/more_icons.js";
import { html, memo } from "../../ui.js";
import { icon } from "../../shared/icons.js";
import { agentModels, Agents, interruptAgent, listAgents, messageAgent, spawnAgent } from "./agents.js";
import { Approval } from "./approval.js";
import { computer } from "./computer.js";
import { editFiles, writeFile } from "./editing.js";
import { execute, processList, processOutput, processSignal } from "./execute.js";
import { CallLine } from "./frame.js";
import { generic } from "./generic.js";
import {
  advisor, createWorkspace, listTemplates, readTemplate, startWorkspace, stopWorkspace, webFetch, webSearch,
} from "./others.js";
import { proposePlan } from "./plan.js";
import { askUser } from "./question.js";
import { Summary } from "./summary.js";
import { Tree } from "./tree.js";
import { attachFile, findTools, readFile, Reads, readSkill, readSkillFile } from "./reading.js";

/** @typedef {import("./frame.js").Card} Card @typedef {import("./frame.js").Call} Call */
/** @typedef {import("./frame.js").At} At */

/** @type {readonly Card[]} */
export const CARDS = [
  readFile, readSkill, readSkillFile, attachFile, findTools,
  writeFile, editFiles,
  execute, processOutput, processList, processSignal,
  spawnAgent, messageAgent, interruptAgent, listAgents, agentModels,
  askUser, proposePlan, computer,
  advisor, webSearch, webFetch,
  createWorkspace, startWorkspace, stopWorkspace, listTemplates, readTemplate,
];

const BY_NAME = new Map(CARDS.flatMap((card) => card.names.map((name) => [name, card])));

/** @param {string} name of a tool @returns {Card} */
export const cardOf = (name) => BY_NAME.get(name) ?? generic;

/** A call, in its card. @param {{call: Call, at: At}} props */
export const CallView = memo(({ call, at }) => {
  const card = cardOf(call.name);
  if (call.ask) return html`<${Approval} call=${call} card=${card} at=${at} />`;
  const own = card.view?.(call, at);
  return own ?? html`<${CallLine} card=${card} call=${call} at=${at} />`;
});

/** Calls in the general card, whatever their own is. @param {{calls: readonly Call[], at: At}} props */
export const PlainCalls = ({ calls, at }) =>
  calls.map((call) => html`<${CallLine} key=${call.key} card=${generic} call=${call} at=${at} />`);

/** @type {Record<string, (item: import("../items.js").Item, at: At) => any>} */
const KINDS = {
  call: (item, at) => html`<${CallView} call=${item.call} at=${at} />`,
  reads: (item, at) => html`<${Reads} calls=${item.calls} at=${at} />`,
  agents: (item, at) => html`<${Agents} calls=${item.calls} at=${at} />`,
  summary: (item, at) => html`<${Summary} call=${item.call} at=${at} />`,
  strange: (item) => html`<div class="card"><header>${icon("q")}<b>${item.part.type}</b></header>
    <div class="in"><${Tree} value=${item.part} /></div></div>`,
};

/** An item of the timeline that tools made. @param {{item: import("../items.js").Item, at: At}} props */
export const CallItem = memo(({ item, at }) => KINDS[item.kind](item, at));
