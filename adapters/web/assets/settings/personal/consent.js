/** Rules of consent of a person's own, for their chats. */
import {html} from "../../ui.js";
import {api} from "../../wire/api.js";
import {RuleList, Trial} from "../consent_rules.js";
import {Loaded, useLoaded} from "../loading.js";
import {Page} from "../page.js";

const RULES = "chats/approval-rules";

export function View() {
  const loaded = useLoaded(() => api.get(RULES));
  return html`<${Page} title="Consent" lead="Rules for the calls of tools in your chats. Where a rule of the deployment asks or denies, yours cannot allow.">
    <${Loaded} of=${loaded}>${(/** @type {any} */ found) => html`<${RuleList} title="Your rules" lead="Of the rules that fit a call, deny wins. Each part of a command needs a rule of its own to run." rules=${found.rules} path=${RULES} again=${loaded.again} />`}<//>
    <${Trial} />
  <//>`;
}
