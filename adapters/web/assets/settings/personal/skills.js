/** A person's skills: texts that a chat reads when it needs them. */
import {html, useState} from "../../ui.js";
import {go} from "../../routes.js";
import {ask} from "../../shared/dialog.js";
import {icon} from "../../shared/icons.js";
import {api} from "../../wire/api.js";
import {Text} from "../fields.js";
import {Form, useForm} from "../form.js";
import {Loaded, useLoaded} from "../loading.js";
import {Act, Notice, Page, Row, Rows} from "../page.js";
import {download} from "../download.js";
import {zipOf} from "../zip.js";
import {counted, when} from "../words.js";

const SKILLS = "/api/experimental/users/me/skills";
const HERE = "/settings/skills";
const FILE_BYTES_MAX = 64 * 1024;
const TEMPLATE = "---\nname: release-notes\ndescription: How we write release notes. Read before you write one.\n---\n\nBegin with what changed for users.\n";

/** @param {{rest: string}} props */
export function View({ rest }) {
  if (rest === "new") return html`<${New} />`;
  return rest ? html`<${Edit} key=${rest} name=${decodeURIComponent(rest)} />` : html`<${All} />`;
}

function All() {
  const loaded = useLoaded(() => api.get(SKILLS));
  const [told, setTold] = useState(/** @type {string[]} */ ([]));
  const bring = async (/** @type {any} */ event) => {
    const files = [...event.currentTarget.files];
    event.currentTarget.value = "";
    setTold(await importAll(files));
    await loaded.again();
  };
  const act = html`<span class="set-acts">
    <label class="btn">Import…<input class="sr" type="file" accept=".md,text/markdown,text/plain" multiple onChange=${bring} /></label>
    ${(loaded.value.value?.length ?? 0) > 1 && html`<${Act} run=${() => exportAll(loaded.value.value)}>Export all<//>`}
    <a class="btn main" href="${HERE}/new">${icon("plus")} New skill</a>
  </span>`;
  return html`<${Page} title="Skills" lead="How to do something, written once. Your chats see names and descriptions, and read the rest when they need it; you name one yourself with / in a message." act=${act}>
    ${told.length > 0 && html`<${Notice}>${told.map((each) => html`<p key=${each}>${each}</p>`)}<//>`}
    <${Loaded} of=${loaded}>${(/** @type {any[]} */ skills) => html`<${Rows} empty="You have no skills yet. A skill is a Markdown file with a name and a description.">
      ${skills.map((skill) => html`<${Row} key=${skill.id} title=${skill.name} more=${skill.description || `changed ${when(skill.updated_at)}`} href="${HERE}/${encodeURIComponent(skill.name)}" />`)}
    <//>`}<//>
  <//>`;
}

/** Add each file as a skill, and say what became of it. @param {File[]} files */
async function importAll(files) {
  const told = [];
  for (const file of files) {
    try {
      if (file.size > FILE_BYTES_MAX) throw { message: `it has ${counted(file.size, "byte")}, a skill may have ${FILE_BYTES_MAX.toLocaleString("en")}` };
      const { name } = await api.post(SKILLS, { content: await file.text() });
      told.push(`${file.name}: imported as ${name}.`);
    } catch (error) {
      const { message, detail } = /** @type {any} */ (error);
      told.push(`${file.name}: not imported. ${[message, detail].filter(Boolean).join(" ")}`);
    }
  }
  return told;
}

/** Give all skills as one archive, a folder each, as workspaces have them. @param {any[]} skills */
async function exportAll(skills) {
  const whole = await Promise.all(skills.map(({ name }) => api.get(`${SKILLS}/${encodeURIComponent(name)}`)));
  download("skills.zip", zipOf(whole.map(({ name, content }) => [`${name}/SKILL.md`, content])), "application/zip");
}

const ALSO = ["name", "description"];
const HELP = "Between two lines of --- the name (lowercase words joined by hyphens) and a description by which the model knows when to read it; below them what to do.";

function New() {
  const form = useForm({ content: "" }, async (values) => {
    const { name } = await api.post(SKILLS, values);
    queueMicrotask(() => go(`${HERE}/${encodeURIComponent(name)}`));
  });
  return html`<${Page} title="New skill" back=${[HERE, "Skills"]}>
    <${Form} form=${form} save="Add the skill">
      <${Text} form=${form} name="content" also=${ALSO} label="File" rows=${20} mono placeholder=${TEMPLATE} help=${HELP} />
    <//>
    ${!form.get("content") && html`<p><button class="btn" onClick=${() => form.set("content", TEMPLATE)}>Begin with an example</button></p>`}
  <//>`;
}

/** @param {{name: string}} props */
function Edit({ name }) {
  const loaded = useLoaded(() => api.get(`${SKILLS}/${encodeURIComponent(name)}`));
  return html`<${Page} title=${name} back=${[HERE, "Skills"]}>
    <${Loaded} of=${loaded}>${(/** @type {any} */ skill) => html`<${Content} skill=${skill} />`}<//>
  <//>`;
}

/** @param {{skill: any}} props */
function Content({ skill }) {
  const path = `${SKILLS}/${encodeURIComponent(skill.name)}`;
  const form = useForm({ content: skill.content }, async (values) => { await api.patch(path, values); });
  const remove = async () => {
    if (!(await ask({ title: `Delete the skill ${skill.name}?`, text: "It cannot be brought back.", yes: "Delete", danger: true }))) return;
    await api.del(path);
    form.reset();
    go(HERE);
  };
  const beside = html`<span class="sp"></span>
    <button type="button" class="btn quiet" onClick=${() => download(`${skill.name}.md`, form.get("content"))}>Download</button>
    <${Act} class="btn bad" run=${remove}>Delete<//>`;
  return html`<${Form} form=${form} beside=${beside}>
    <${Text} form=${form} name="content" also=${ALSO} label="File" rows=${20} mono help="${HELP} The name stays: to rename a skill add another and delete this one." />
  <//>`;
}
