// A mark where the conversation was summarised to make room.

import { html, memo } from "../../ui.js";
import { useToggle } from "../controls.js";
import { Prose } from "../prose.js";
import { firstLine, tokens } from "../words.js";

/** @param {{call: import("../calls.js").Call, at: import("./frame.js").At}} props */
export const Summary = memo(({ call, at }) => {
  const { result, args } = call;
  const isOpen = at.opened(call.key) ?? false;
  const onToggle = useToggle(call.key, isOpen, at);
  if (call.running) return html`<div class="mark" role="status"><span><i class="cue go"></i> Summarising what was said…</span></div>`;
  if (call.failed || call.state === "interrupted") {
    return html`<div class="mark bad"><span>It could not be summarised: ${firstLine(call.error || "it was stopped")}</span></div>`;
  }
  const before = result?.context_tokens ? `${tokens(result.context_tokens)} tokens summarised` : "Summarised";
  const why = (result?.source ?? args.source) === "manual" ? "as asked" : "to make room";
  return html`<details class="marked" open=${isOpen} onToggle=${onToggle} data-call=${call.key}>
    <summary class="mark"><span>${before}, ${why} · <u>${isOpen ? "close" : "read it"}</u></span></summary>
    ${isOpen && html`<div class="card"><div class="in"><${Prose} text=${String(result?.summary ?? "")} /></div></div>`}
  </details>`;
});
