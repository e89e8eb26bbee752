/** One user: added, changed, let in, kept out, deleted. */
import {html, useState} from "../../ui.js";
import {go} from "../../routes.js";
import {me} from "../../session.js";
import {ask} from "../../shared/dialog.js";
import {eraseUser} from "../../shared/erasing.js";
import {holdUser} from "../../shared/holds.js";
import {api} from "../../wire/api.js";
import {Radios, Text} from "../fields.js";
import {Form, useForm} from "../form.js";
import {Loaded, useLoaded} from "../loading.js";
import {Act, Notice, Once, Page, Section} from "../page.js";
import {changes} from "../values.js";
import {when} from "../words.js";

const USERS = "/api/v2/users";
const HERE = "/admin/users";
const BACK = [HERE, "Users"];
const ROLES = /** @type {[string, string, string][]} */ ([
  ["member", "Member", "has chats, files and settings of their own"],
  ["owner", "Owner", "also looks after users, models and the settings for all"],
]);

export function NewUser() {
  const [made, setMade] = useState(/** @type {any} */ (null));
  const first = { username: "", name: "", email: "", role: "member", how: "link", password: "" };
  const form = useForm(first, async ({ role, how, password, ...values }) => {
    const user = await api.post(USERS, { ...values, roles: role === "owner" ? ["owner"] : [], ...(how === "password" && { password }) });
    setMade(user);
    return first;
  });
  return html`<${Page} title="Add a user" back=${BACK}>
    ${made && html`<${Made} user=${made} />`}
    <${Form} form=${form} save="Add the user">
      <div class="fields-2">
        <${Text} form=${form} name="username" label="Username" help="Letters and digits, with hyphens between." />
        <${Text} form=${form} name="name" label="Name" />
      </div>
      <${Text} form=${form} name="email" label="Email" type="email" help="To find them by, and to log in with; nothing is sent." />
      <${Radios} form=${form} name="role" also=${["roles"]} label="Role" options=${ROLES} />
      <${Radios} form=${form} name="how" label="First log-in" options=${[["link", "With a link", "you send it to them, and they set their own password; good once, for a day"], ["password", "With a password", "that you tell them"]]} />
      ${form.get("how") === "password" && html`<${Text} form=${form} name="password" label="Password" type="password" autocomplete="new-password" help="10 characters or more." />`}
    <//>
  <//>`;
}

/** @param {{user: any}} props */
function Made({ user }) {
  const link = html`<a href="${HERE}/${user.id}">${user.username}</a>`;
  if (!user.one_time_link) return html`<${Notice} tone="go">${link} was added.<//>`;
  return html`<${Once} label="Send this link to ${user.username}" value=${user.one_time_link}><p>${link} was added. The link works once, for a day.</p><//>`;
}

/** @param {{id: string}} props */
export function EditUser({ id }) {
  const loaded = useLoaded(() => api.get(`${USERS}/${id}`));
  const user = loaded.value.value;
  return html`<${Page} title=${user ? user.name || user.username : "User"} lead=${user?.email} back=${BACK}>
    <${Loaded} of=${loaded}>${(/** @type {any} */ found) => html`
      ${found.status === "suspended" && html`<${Notice} tone="bad">Suspended: they are not let in, with none of their tokens.<//>`}
      <${Section} title="Name"><${Names} user=${found} again=${loaded.again} /><//>
      <${Section} title="Role"><${Role} user=${found} again=${loaded.again} /><//>
      <${Section} title="Password" lead="With a one-time link they set a new one themselves. It works once, for a day."><${Link} user=${found} /><//>
      <${Section} title="Data" lead="What is on legal hold is erased by nobody."><p class="set-acts">
        <${Act} run=${() => holdUser(found)}>Legal hold…<//>
        <${Act} class="btn bad" run=${() => eraseUser(found)}>Erase chats and files…<//></p><//>
      <${Section} title="Access"><${Access} user=${found} again=${loaded.again} /><//>
      <p class="field-help">Added ${when(found.created_at)}, last seen ${when(found.last_seen_at)}.</p>`}<//>
  <//>`;
}

/** @param {{user: any, again: () => Promise<void>}} props */
function Names({ user, again }) {
  const saved = { name: user.name, username: user.username };
  const form = useForm(saved, async (values) => {
    await api.put(`${USERS}/${user.id}/profile`, changes(form.saved.peek(), values));
    void again();
  });
  return html`<${Form} form=${form}><div class="fields-2">
    <${Text} form=${form} name="name" label="Name" />
    <${Text} form=${form} name="username" label="Username" />
  </div><//>`;
}

/** @param {{user: any, again: () => Promise<void>}} props */
function Role({ user, again }) {
  const saved = { role: user.roles.some((/** @type {any} */ each) => each.name === "owner") ? "owner" : "member" };
  const form = useForm(saved, async ({ role }) => {
    await api.put(`${USERS}/${user.id}/roles`, { roles: role === "owner" ? ["owner"] : [] });
    if (user.id === me.peek()?.id) me.value = await api.get(`${USERS}/me`);
    void again();
  });
  return html`<${Form} form=${form}><${Radios} form=${form} name="role" also=${["roles"]} label="Role" bare options=${ROLES} /><//>`;
}

/** @param {{user: any}} props */
function Link({ user }) {
  const [link, setLink] = useState("");
  return html`${link && html`<${Once} label="Send this link to ${user.username}" value=${link} />`}
    <p class="set-acts"><${Act} run=${async () => setLink((await api.post(`${USERS}/${user.id}/one-time-link`)).url)}>Make a one-time link<//></p>`;
}

/** @param {{user: any, again: () => Promise<void>}} props */
function Access({ user, again }) {
  if (user.id === me.peek()?.id) return html`<p class="field-help">This is you. Another owner can suspend or delete you.</p>`;
  const isOut = user.status === "suspended";
  const toggle = async () => {
    const question = { title: `Suspend ${user.username}?`, text: "They are logged out everywhere, and their tokens are refused. What they have stays.", yes: "Suspend", danger: true };
    if (!isOut && !(await ask(question))) return;
    await api.put(`${USERS}/${user.id}/status/${isOut ? "activate" : "suspend"}`);
    await again();
  };
  const remove = async () => {
    const question = { title: `Delete ${user.username}?`, text: "They cannot be brought back. Their messages stay, with their name.", yes: "Delete", danger: true };
    if (!(await ask(question))) return;
    await api.del(`${USERS}/${user.id}`);
    go(HERE);
  };
  return html`<p class="set-acts">
    <${Act} class=${isOut ? "btn" : "btn bad"} run=${toggle}>${isOut ? "Let them in again" : "Suspend"}<//>
    <${Act} class="btn bad" run=${remove}>Delete<//>
  </p>`;
}
