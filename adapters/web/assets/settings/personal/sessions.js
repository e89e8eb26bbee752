/** The browsers in which a person is logged in. */
import {html} from "../../ui.js";
import {ask} from "../../shared/dialog.js";
import {api} from "../../wire/api.js";
import {Loaded, useLoaded} from "../loading.js";
import {Act, Page, Row, Rows, Tag} from "../page.js";
import {counted, when} from "../words.js";

const KEYS = "/api/v2/users/me/keys";

/** @typedef {{id: string, created_at: string, last_used: string, expires_at: string, is_current: boolean}} Session */

export function View() {
  const loaded = useLoaded(() => api.get(`${KEYS}/sessions`));
  return html`<${Page} title="Sessions" lead="Browsers in which you are logged in. A session ends a week after its last use, and with a new password.">
    <${Loaded} of=${loaded}>${(/** @type {Session[]} */ found) => html`<${Sessions} found=${found} again=${loaded.again} />`}<//>
  <//>`;
}

/** @param {{found: Session[], again: () => Promise<void>}} props */
function Sessions({ found, again }) {
  const others = found.filter((each) => !each.is_current);
  const end = async (/** @type {Session[]} */ ended) => {
    for (const each of ended) await api.del(`${KEYS}/${each.id}`);
    await again();
  };
  const endAll = async () => {
    const text = `${counted(others.length, "other browser has", "other browsers have")} to log in again.`;
    if (await ask({ title: "End all other sessions?", text, yes: "End them", danger: true })) await end(others);
  };
  return html`<${Rows} empty="No browser is logged in: you came with a token.">
      ${found.map((each) => html`<${Row} key=${each.id} mark=${each.is_current ? "go" : "off"}
        title=${each.is_current ? "This browser" : "Another browser"}
        more="Begun ${when(each.created_at)}, last used ${when(each.last_used)}, ends ${when(each.expires_at)}"
        tags=${each.is_current && html`<${Tag} tone="go">now<//>`}
        side=${!each.is_current && html`<${Act} class="btn bad" run=${() => end([each])}>End<//>`} />`)}
    <//>
    ${others.length > 1 && html`<p><${Act} class="btn bad" run=${endAll}>End all others<//></p>`}`;
}
