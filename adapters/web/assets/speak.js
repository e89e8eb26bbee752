/** The last answer, read aloud by a screen reader when somebody asks for it. */

import {command} from "./commands.js";
import {html, signal, useEffect} from "./ui.js";

const said = signal("");

function lastAnswer() {
  const answers = document.querySelectorAll('article[data-role="assistant"] .text');
  const last = answers[answers.length - 1];
  return last instanceof HTMLElement ? last.innerText.trim() : "";
}

/** A region that says what is put into it. */
export function Spoken() {
  useEffect(() => command({
    id: "message.speak", title: "Read the last answer aloud", group: "Chat",
    when: () => !!document.querySelector('article[data-role="assistant"] .text'),
    run: () => {
      said.value = ""; // the same text once more is news only if it was away
      requestAnimationFrame(() => (said.value = lastAnswer()));
    },
  }), []);
  return html`<div class="sr" aria-live="polite">${said.value}</div>`;
}
