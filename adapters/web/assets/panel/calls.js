// The recorded calls of models: runs, their steps, and the exchanges of each with its provider.

import { html, useEffect, useRef, useSignal } from "../ui.js";
import { tokensText } from "../composer/usage.js";
import { download } from "../settings/download.js";
import { icon } from "../shared/icons.js";
import { usePart } from "../shared/part.js";
import { api } from "../wire/api.js";
import { spanText } from "./spans.js";

const KINDS = { chat_turn: "Turn", title_generation: "Title", quickgen: "Beside the turn", compaction: "Making room" };
const STATUS = { in_progress: "runs", completed: "", error: "failed", interrupted: "interrupted" };

/** @param {import("./panel.js").About} props */
export function Calls({ conversation }) {
  const status = usePart(conversation, (state) => state.chat?.status);
  const runs = useSignal(/** @type {any[] | null} */ (null));
  const fault = useSignal("");
  const turns = useRef(0); // of several answers the one that was asked for last counts
  const read = async () => {
    const turn = ++turns.current;
    try {
      const found = await api.get(`chats/${conversation.id}/debug/runs`);
      if (turn !== turns.current) return;
      runs.value = found;
      fault.value = "";
    } catch (error) {
      if (turn !== turns.current) return;
      const { status: refused, message } = /** @type {any} */ (error);
      fault.value = refused === 404 ? "Only the owner of this chat sees its recorded calls." : message;
    }
  };
  useEffect(() => void read(), [conversation.id, status]);
  if (fault.value) return html`<div class="pbody"><p class="none">${fault.value} <button type="button" class="btn" onClick=${read}>Try again</button></p></div>`;
  if (!runs.value) return html`<div class="pbody"><p class="none late" role="status">Reading the calls…</p></div>`;
  return html`<div class="pbody procs">
    ${runs.value.length ? null : html`<${Nothing} />`}
    ${runs.value.map((run) => html`<${Run} key=${run.id} run=${run} />`)}
    ${runs.value.length ? html`<p class="none"><button type="button" class="btn" onClick=${read}>Read again</button></p>` : null}</div>`;
}

function Nothing() {
  return html`<p class="none">No calls of models are recorded in this chat. They are from the next turn on if you <a href="/settings/records">switch that on</a>.</p>`;
}

/** @param {{run: any}} props */
function Run({ run }) {
  const open = useSignal(false);
  const { summary } = run;
  const at = new Date(run.started_at).toLocaleTimeString([], { timeStyle: "short" });
  return html`<details class="proc" open=${open.value} onToggle=${(/** @type {any} */ event) => (open.value = event.currentTarget.open)}>
    <summary>${icon("chev")}<span class="what">${KINDS[/** @type {keyof typeof KINDS} */ (run.kind)] ?? run.kind}${summary.first_message ? html` <span class="dim">${summary.first_message.slice(0, 80)}</span>` : null}</span>
      <span class="r num"><${Status} status=${run.status} /><span>${tokensText(summary.total_input_tokens)} → ${tokensText(summary.total_output_tokens)}</span><time datetime=${run.started_at}>${at}</time></span></summary>
    ${open.value ? html`<${Steps} run=${run} />` : null}</details>`;
}

/** @param {{status: string}} props */
function Status({ status }) {
  const words = STATUS[/** @type {keyof typeof STATUS} */ (status)] ?? status;
  return words ? html`<span class=${status === "error" ? "bad" : "tag"}>${words}</span>` : null;
}

/** @param {{run: any}} props */
function Steps({ run }) {
  const whole = useSignal(/** @type {any} */ (null));
  const fault = useSignal("");
  useEffect(() => {
    api.get(`chats/${run.chat_id}/debug/runs/${run.id}`).then((found) => (whole.value = found), (error) => (fault.value = error.message));
  }, [run.id, run.updated_at]);
  if (fault.value) return html`<p class="none">${fault.value}</p>`;
  if (!whole.value) return html`<p class="none late" role="status">Reading the run…</p>`;
  const save = () => download(`run-${run.id}.json`, JSON.stringify(whole.value, null, 2), "application/json");
  return html`<p class="none acts"><span class="mono dim">${[run.provider, run.model, run.summary.endpoint_label].filter(Boolean).join(" · ")}</span><button type="button" class="link" onClick=${save}>Save as JSON</button></p>
    ${whole.value.steps.map((/** @type {any} */ step) => html`<${Step} key=${step.id} step=${step} />`)}`;
}

/** @param {{step: any}} props */
function Step({ step }) {
  const took = step.finished_at ? Date.parse(step.finished_at) - Date.parse(step.started_at) : 0;
  return html`<h3>Step ${step.step_number} <${Status} status=${step.status} /> ${took ? html`<span class="num">${spanText(took)}</span>` : null}</h3>
    ${step.error ? html`<p class="none err">${step.error.message}</p>` : null}
    <${Document} name="Asked" value=${step.normalized_request} />
    ${step.normalized_response ? html`<${Document} name="Answered" value=${step.normalized_response} />` : null}
    ${step.attempts.map((/** @type {any} */ attempt) => html`<${Attempt} key=${attempt.number} attempt=${attempt} />`)}`;
}

/** @param {{attempt: any}} props */
function Attempt({ attempt }) {
  const { request_body, response_body, ...rest } = attempt;
  const name = `Exchange ${attempt.number}: ${attempt.response_status ?? attempt.error ?? attempt.status}`;
  return html`<${Folded} name=${name}>
    <${Text} label="Request" text=${request_body || "Nothing was sent."} />
    <${Text} label="Answer" text=${response_body || "There was none."} />
    <${Text} label="Facts" text=${JSON.stringify(rest, null, 2)} /><//>`;
}

/** @param {{name: string, value: any}} props */
const Document = ({ name, value }) => html`<${Folded} name=${name}><${Text} label=${name} text=${JSON.stringify(value, null, 2)} /><//>`;

/** What is made only once it is opened. @param {{name: string, children: any}} props */
function Folded({ name, children }) {
  const open = useSignal(false);
  return html`<details class="proc" open=${open.value} onToggle=${(/** @type {any} */ event) => (open.value = event.currentTarget.open)}><summary>${icon("chev")}<span class="what">${name}</span></summary>${open.value ? children : null}</details>`;
}

/** @param {{label: string, text: string}} props */
const Text = ({ label, text }) => html`<pre class="term" tabindex="0" role="region" aria-label=${label}>${text}</pre>`;
