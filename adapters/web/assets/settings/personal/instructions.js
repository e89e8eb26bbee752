/** What all chats of a person are told. */
import {html} from "../../ui.js";
import {api} from "../../wire/api.js";
import {Form, useForm} from "../form.js";
import {Loaded, useLoaded} from "../loading.js";
import {Page} from "../page.js";
import {PromptField} from "../prompt_field.js";

const PROMPT = "/api/experimental/chats/config/user-prompt";

export function View() {
  const loaded = useLoaded(() => api.get(PROMPT));
  return html`<${Page} title="Instructions" lead="The model reads this at the beginning of every chat of yours, its agents too: who you are, how you want answers, what to keep to.">
    <${Loaded} of=${loaded}>${(/** @type {any} */ found) => html`<${Prompt} found=${found} />`}<//>
  <//>`;
}

/** @param {{found: {custom_prompt: string}}} props */
function Prompt({ found }) {
  const form = useForm({ custom_prompt: found.custom_prompt }, (values) => api.put(PROMPT, values));
  return html`<${Form} form=${form}>
    <${PromptField} form=${form} name="custom_prompt" label="Instructions for your chats" rows=${14} placeholder="Answer in British English. When you change code, run the tests before you say that it is done." help="Chats that have begun take a change in with their next message. Do not write secrets here: the provider reads them." />
  <//>`;
}
