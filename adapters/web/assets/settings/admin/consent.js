/** The deployment's rules of consent: those of its configuration, and those that are written here. */
import {html} from "../../ui.js";
import {api} from "../../wire/api.js";
import {Loaded, useLoaded} from "../loading.js";
import {Policy, RuleList, Trial} from "../consent_rules.js";
import {Notice, Page, Section} from "../page.js";
import {lengthOf} from "../words.js";

const RULES = "/api/experimental/chats/config/approvals";
const POLICIES = /** @type {Record<string, string>} */ ({
  allow: "Tools run without a question.",
  ask: "A person is asked before a tool changes something outside of the conversation. Reading is not asked about.",
  deny: "What changes something outside of the conversation is denied at once.",
});

export function View() {
  const loaded = useLoaded(() => api.get(RULES));
  return html`<${Page} title="Consent" lead="Which calls of tools a person is asked about, in all chats. Rules of users can be stricter, and never freer.">
    <${Loaded} of=${loaded}>${(/** @type {any} */ found) => html`
      <${Section} title="Chats that say nothing of their own">
        <p class="set-fact"><${Policy} word=${found.policy} /> ${POLICIES[found.policy]}</p>
        <${Notice}>${found.deadline_seconds ? `A call that is not decided within ${lengthOf(found.deadline_seconds)} is denied.` : "A question waits for as long as it takes."}<//>
      <//>
      <${RuleList} title="Rules for tools" lead="They come before what a chat says. Of the rules that fit a call, deny wins; a rule with brackets is an exception from one without." rules=${found.rules} path=${`${RULES}/rules`} again=${loaded.again} />
      <${Trial} />
      <p class="field-help">Settings: <code>approval_policy</code>, <code>approval_rules</code>, <code>approval_deadline</code>.</p>`}<//>
  <//>`;
}
