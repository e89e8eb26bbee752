// A plan that is handed in: its text, and what the user may do with it.

import { html, memo, useEffect, useState } from "../../ui.js";
import { icon } from "../../shared/icons.js";
import { Prose } from "../prose.js";
import { basename } from "../words.js";
import { Button, SignButton } from "../controls.js";
import { clipped } from "./big_text.js";

/** @typedef {import("./frame.js").Card} Card @typedef {import("./frame.js").Call} Call */
/** @typedef {import("./frame.js").At} At */

/** @param {{call: Call, at: At}} props */
export const Plan = memo(({ call, at }) => {
  const { text, fault, again } = usePlanText(call, at);
  const name = call.result?.path ? clipped(basename(String(call.result.path)).replace(/-[0-9a-f-]{36}(?=\.)/, ""), 80) : "";
  const isOpen = call.state === "done" && call.latest && !at.readonly;
  return html`<section class="card plan" aria-label="Plan" data-call=${call.key}>
    <header>
      ${icon("plan")}<b>Plan</b>
      <span class="r"
        >${name}${call.running && html`<i class="cue go"></i>`}${
          text && html`<${SignButton} sign="copy" label="Copy the plan" onClick=${() => at.do("copy", { text })} />`
        }</span
      >
    </header>
    <div class="in">
      ${text ? html`<${Prose} text=${text} grows=${call.running} />` : !fault && html`<p class="quiet">${call.running ? "Being handed in…" : "Loading…"}</p>`}
      ${fault && html`<p class="bad">The plan could not be loaded: ${fault}</p>`}
    </div>
    ${fault && html`<footer><${Button} label="Again" onClick=${again} /></footer>`}
    ${isOpen &&
    html`<footer>
      <${Button} label="Carry it out" form="main" onClick=${() => at.do("plan.carry")} />
      <${Button} label="Change it…" onClick=${() => at.do("composer.insert", { text: "Change the plan: " })} />
    </footer>`}
  </section>`;
});

/** @param {Call} call @param {At} at */
function usePlanText(call, at) {
  const file = call.result?.file_id;
  const [loaded, setLoaded] = useState({ text: "", fault: "", tries: 0 });
  useEffect(() => {
    let isGone = false;
    if (file) {
      at.text(file).then(
        (text) => !isGone && setLoaded((old) => ({ ...old, text, fault: "" })),
        (error) => !isGone && setLoaded((old) => ({ ...old, fault: error.message ?? String(error) })),
      );
    }
    return () => {
      isGone = true;
    };
  }, [file, loaded.tries]);
  const again = () => setLoaded((old) => ({ ...old, fault: "", tries: old.tries + 1 }));
  return { text: loaded.text || String(call.args.plan ?? ""), fault: loaded.text ? "" : loaded.fault, again };
}

/** @type {Card} */
export const proposePlan = {
  names: ["propose_plan"],
  icon: "plan",
  kind: "tools",
  line: (call) => [call.failed ? "Could not hand in its plan" : "Handed in its plan"],
  view: (call, at) => (call.failed || call.state === "interrupted" ? null : html`<${Plan} call=${call} at=${at} />`),
};
