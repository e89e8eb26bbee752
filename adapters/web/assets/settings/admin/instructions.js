/** What all chats of the deployment are told. */
import {html} from "../../ui.js";
import {api} from "../../wire/api.js";
import {Switch} from "../fields.js";
import {Form, useForm} from "../form.js";
import {Loaded, useLoaded} from "../loading.js";
import {More, Page, Section} from "../page.js";
import {PromptField} from "../prompt_field.js";

const CONFIG = "/api/experimental/chats/config";

export function View() {
  const loaded = useLoaded(async () => {
    const [system, plan] = await Promise.all([api.get(`${CONFIG}/system-prompt`), api.get(`${CONFIG}/plan-mode-instructions`)]);
    return { system, plan };
  });
  return html`<${Page} title="Instructions" lead="What the model reads at the beginning of every chat, before the instructions that users have written for their own.">
    <${Loaded} of=${loaded}>${(/** @type {any} */ found) => html`
      <${Section} title="All chats"><${System} found=${found.system} /><//>
      <${Section} title="Chats that plan" lead="Read in plan mode, in addition."><${Plan} found=${found.plan} /><//>`}<//>
  <//>`;
}

/** @param {{found: {system_prompt: string, include_default_system_prompt: boolean, default_system_prompt: string}}} props */
function System({ found: { default_system_prompt: usual, ...saved } }) {
  const form = useForm(saved, async (values) => { await api.put(`${CONFIG}/system-prompt`, values); });
  return html`<${Form} form=${form}>
    <${Switch} form=${form} name="include_default_system_prompt" label="Begin with the text that comes with promptcorner" help="It says how to work with tools, files and agents. Without it your own text has to." />
    <${More} title="Show that text"><pre class="set-text" tabindex="0">${usual}</pre><//>
    <${PromptField} form=${form} name="system_prompt" label="Your own" rows=${12} placeholder="You work for Example Ltd. Our repositories are at…" />
  <//>`;
}

/** @param {{found: {plan_mode_instructions: string}}} props */
function Plan({ found }) {
  const form = useForm(found, async (values) => { await api.put(`${CONFIG}/plan-mode-instructions`, values); });
  return html`<${Form} form=${form}>
    <${PromptField} form=${form} name="plan_mode_instructions" label="How to plan" rows=${8} placeholder="A plan names the files that it touches, and how it is tested." />
  <//>`;
}
