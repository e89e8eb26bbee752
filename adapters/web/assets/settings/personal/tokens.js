/** Tokens, with which programs act for a person. */
import {html, useState} from "../../ui.js";
import {ask} from "../../shared/dialog.js";
import {api} from "../../wire/api.js";
import {now} from "../../wire/clock.js";
import {Choice, Text} from "../fields.js";
import {Form, useForm} from "../form.js";
import {Loaded, useLoaded} from "../loading.js";
import {Act, Once, Page, Row, Rows, Section, Tag} from "../page.js";
import {when} from "../words.js";

const KEYS = "/api/v2/users/me/keys";
const DAY_NS = 86_400_000_000_000;
const LIFETIMES = [["7", "a week"], ["30", "30 days"], ["90", "90 days"], ["365", "a year"], ["3650", "10 years"]];
const SCOPES = [
  ["all", "Everything you may do"],
  ["chats", "Chats"], ["chats:read", "Chats, reading only"],
  ["models", "Providers and models"], ["models:read", "Providers and models, reading only"],
  ["settings", "Settings"], ["settings:read", "Settings, reading only"],
  ["users", "Users"], ["users:read", "Users, reading only"],
];
const NEW = { token_name: "", days: "30", scope: "all" };

export function View() {
  const loaded = useLoaded(() => api.get(`${KEYS}/tokens`, { include_expired: "true" }));
  const [made, setMade] = useState("");
  const form = useForm(NEW, async ({ token_name, days, scope }) => {
    const answer = await api.post(`${KEYS}/tokens`, { token_name, scopes: [scope], lifetime: Math.round(days * DAY_NS) });
    setMade(answer.key);
    void loaded.again();
    return NEW;
  });
  return html`<${Page} title="Tokens" lead=${html`With a token a program acts in your name: the command line, a bot, an editor. See <a href="/docs" target="_blank">what the API can do</a>.`}>
    ${made && html`<${Once} label="Your new token" value=${made}><p>Copy it now: it is not shown again.</p><//>`}
    <${Section} title="New token">
      <${Form} form=${form} save="Make a token">
        <${Text} form=${form} name="token_name" label="Name" placeholder="laptop" help="To recognise it in the list." />
        <div class="fields-2">
          <${Choice} form=${form} name="scope" label="May use" options=${SCOPES} also=${["scopes"]} />
          <${Choice} form=${form} name="days" label="Expires after" options=${LIFETIMES} also=${["lifetime"]} />
        </div>
      <//>
    <//>
    <${Section} title="Your tokens">
      <${Loaded} of=${loaded}>${(/** @type {any[]} */ tokens) => html`<${Rows} empty="You have no tokens.">${tokens.map((token) => html`<${Token} key=${token.id} token=${token} again=${loaded.again} />`)}<//>`}<//>
    <//>
  <//>`;
}

/** @param {{token: any, again: () => Promise<void>}} props */
function Token({ token, again }) {
  const isOver = new Date(token.expires_at).getTime() < now();
  const name = token.token_name || "without a name";
  const revoke = async () => {
    const question = { title: `Revoke the token ${name}?`, text: "Programs that use it are refused from now on.", yes: "Revoke", danger: true };
    if (!(await ask(question))) return;
    await api.del(`${KEYS}/${token.id}`);
    await again();
  };
  const used = when(token.last_used);
  return html`<${Row} title=${name} tags=${isOver ? html`<${Tag} tone="bad">ended<//>` : html`<${Tag}>${token.scopes.join(", ")}<//>`}
    more="${used === "never" ? "Never used" : `Used ${used}`}, made ${when(token.created_at)}, ${isOver ? "ended" : "ends"} ${when(token.expires_at)}"
    side=${html`<${Act} class="btn bad" run=${revoke}>Revoke<//>`} />`;
}
