/** Name and password of a person. */
import {html} from "../../ui.js";
import {me} from "../../session.js";
import {api} from "../../wire/api.js";
import {Text} from "../fields.js";
import {Form, useForm} from "../form.js";
import {Page, Section} from "../page.js";
import {changes} from "../values.js";

const ME = "/api/v2/users/me";

export function View() {
  return html`<${Page} title="Name and password" lead="How others see you when you share a chat, and how you log in.">
    ${me.value && html`<${Names} user=${me.value} />`}
    <${Password} />
  <//>`;
}

/** @param {{user: any}} props */
function Names({ user }) {
  const form = useForm({ username: user.username, name: user.name }, async (values) => {
    const answer = await api.put(`${ME}/profile`, changes({ username: user.username, name: user.name }, values));
    me.value = { ...me.peek(), ...answer };
  });
  return html`<${Section} title="Name">
    <${Form} form=${form}>
      <${Text} form=${form} name="name" label="Name" autocomplete="name" />
      <${Text} form=${form} name="username" label="Username" autocomplete="username" help="Letters and digits, with hyphens between. You log in with it." />
      ${user.email && html`<p class="set-fact"><span>Email</span> ${user.email} <small>An administrator can tell you how it is changed.</small></p>`}
    <//>
  <//>`;
}

const NONE = { old_password: "", password: "", again: "" };

function Password() {
  const form = useForm(NONE, async ({ old_password, password, again }) => {
    if (password !== again) throw refusal("again", "is not the same as the one above");
    await api.put(`${ME}/password`, { old_password, password });
    return NONE;
  });
  return html`<${Section} title="Password" lead="A new password ends your other sessions. Tokens stay as they are.">
    <${Form} form=${form} save="Change the password">
      <${Text} form=${form} name="old_password" label="Password you have now" type="password" autocomplete="current-password" />
      <${Text} form=${form} name="password" label="New password" type="password" autocomplete="new-password" help="10 characters or more." />
      <${Text} form=${form} name="again" label="The same again" type="password" autocomplete="new-password" />
    <//>
  <//>`;
}

/** Refuse a form here, as the server would. @param {string} field @param {string} detail */
function refusal(field, detail) {
  return { message: "The password was not changed.", validations: [{ field, detail }] };
}
