/** How a server of tools knows who asks. What is secret is never shown again. */
import {html} from "../../ui.js";
import {Choice, Text} from "../fields.js";
import {Pairs} from "../lists.js";

const KINDS = [["none", "nothing"], ["api_key", "a key in a header"], ["custom_headers", "headers"], ["oauth2", "a log-in of each user (OAuth 2)"]];
const STAYS = "One is stored. Leave it empty to keep it.";

/** @param {{form: any, server?: any}} props */
export function Authorization({ form, server }) {
  const kind = form.get("auth_type");
  return html`<${Choice} form=${form} name="auth_type" label="It is shown" options=${KINDS} help="When this or the address changes, what users logged in with is forgotten." />
    ${kind === "api_key" && html`<div class="fields-2">
      <${Text} form=${form} name="api_key_header" label="Header" mono placeholder="X-Api-Key" />
      <${Text} form=${form} name="api_key_value" label="Key" type="password" mono help=${server?.has_api_key ? STAYS : undefined} />
    </div>`}
    ${kind === "custom_headers" && html`<${Pairs} form=${form} name="headers" also=${["custom_headers"]} label="Headers" secret help=${server?.has_custom_headers ? "Headers are stored. With none here they stay; with one or more here these take their place." : "Their values are sealed when they are stored."} />`}
    ${kind === "oauth2" && html`<${OAuth} form=${form} server=${server} />`}`;
}

/** @param {{form: any, server?: any}} props */
function OAuth({ form, server }) {
  return html`<p class="set-lead">Leave the addresses empty to have them found out, and the client id too to have this daemon registered there.</p>
    <div class="fields-2">
      <${Text} form=${form} name="oauth2_client_id" label="Client id" mono />
      <${Text} form=${form} name="oauth2_client_secret" label="Client secret" type="password" mono help=${server?.has_oauth2_secret ? STAYS : "If there is one."} />
    </div>
    <div class="fields-2">
      <${Text} form=${form} name="oauth2_auth_url" label="Address to log in" type="url" mono />
      <${Text} form=${form} name="oauth2_token_url" label="Address of tokens" type="url" mono />
    </div>
    <div class="fields-2">
      <${Text} form=${form} name="oauth2_revocation_url" label="Address to revoke tokens" type="url" mono />
      <${Text} form=${form} name="oauth2_scopes" label="Scopes" mono help="With blanks between." />
    </div>`;
}
