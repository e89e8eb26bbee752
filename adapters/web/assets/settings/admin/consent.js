/** The rules of consent as they hold. They stand in the daemon's configuration. */
import {html} from "../../ui.js";
import {api} from "../../wire/api.js";
import {Loaded, useLoaded} from "../loading.js";
import {Notice, Page, Row, Rows, Section, Tag} from "../page.js";
import {lengthOf} from "../words.js";

const RULES = "/api/experimental/chats/config/approvals";
const WORDS = /** @type {Record<string, [string, string]>} */ ({
  allow: ["go", "runs"], ask: ["wait", "is asked about"], deny: ["bad", "is denied"],
});
const POLICIES = /** @type {Record<string, string>} */ ({
  allow: "Tools run without a question.",
  ask: "A person is asked before a tool changes something outside of the conversation. Reading is not asked about.",
  deny: "What changes something outside of the conversation is denied at once.",
});

export function View() {
  const loaded = useLoaded(() => api.get(RULES));
  return html`<${Page} title="Consent" lead="Which calls of tools a person is asked about. This is the daemon's configuration: it is changed there, and the daemon started again.">
    <${Loaded} of=${loaded}>${(/** @type {any} */ found) => html`
      <${Section} title="Chats that say nothing of their own">
        <p class="set-fact"><${Policy} word=${found.policy} /> ${POLICIES[found.policy]}</p>
        <${Notice}>${found.deadline_seconds ? `A call that is not decided within ${lengthOf(found.deadline_seconds)} is denied.` : "A question waits for as long as it takes."}<//>
      <//>
      <${Section} title="Rules for tools" lead="They come before what a chat says. Of the rules that fit a tool, the strictest holds.">
        <${Rows} empty="There are no rules: what the chat says holds for every tool.">${found.rules.map((/** @type {any} */ rule) => html`<${Row} key=${rule.tool} title=${html`<span class="mono">${rule.tool}</span>`} side=${html`<${Policy} word=${rule.policy} />`} />`)}<//>
      <//>
      <p class="field-help">Settings: <code>approval_policy</code>, <code>approval_rules</code>, <code>approval_deadline</code>.</p>`}<//>
  <//>`;
}

/** @param {{word: string}} props */
function Policy({ word }) {
  const [tone, words] = WORDS[word] ?? ["", word];
  return html`<${Tag} tone=${tone}>${words}<//>`;
}
