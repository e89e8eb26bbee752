/** How a model is called: what all have, what its vendor has, and the same as JSON beside it. */
import {html, useState} from "../../ui.js";
import {Amount, Choice, Text, YesNo} from "../fields.js";
import {Json, List} from "../lists.js";
import {More, Section} from "../page.js";
import {FAMILIES} from "./families.js";

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"].map((each) => [each, each]);
const CALL = "model_config";

/** @param {{form: any, family: string}} props */
export function ModelOptions({ form, family }) {
  const [isRaw, setRaw] = useState(false);
  const options = FAMILIES[family] ?? [];
  const act = html`<button type="button" class="btn quiet" aria-pressed=${isRaw} onClick=${() => setRaw(!isRaw)}>${isRaw ? "Hide the JSON" : "Show as JSON"}</button>`;
  return html`<${Section} title="How it is called" lead="What is left empty is left to the vendor." act=${act}>
    <div class=${isRaw ? "fields-beside" : ""}>
      <div>
        <div class="fields-2">
          <${Choice} form=${form} name="${CALL}.reasoning_effort.default" also=${["model_config.reasoning_effort"]} label="Effort" options=${EFFORTS} none="none to choose" />
          <${Choice} form=${form} name="${CALL}.reasoning_effort.max" label="Highest that users may choose" options=${EFFORTS} none="none to choose" />
        </div>
        <div class="fields-2">${GENERAL.map((each) => option(form, CALL, each))}</div>
        ${options.length > 0 && html`<${More} title="Options of the vendor" open><div class="fields-2">${options.map((each) => option(form, `${CALL}.provider_options.${family}`, each))}</div><//>`}
      </div>
      ${isRaw && html`<${Json} form=${form} name=${CALL} label="JSON" rows=${28} help="The same as the fields; what they do not know can be said here." />`}
    </div>
  <//>`;
}

const GENERAL = /** @type {import("./families.js").Option[]} */ ([
  ["max_output_tokens", "Longest answer", { kind: "number", unit: "tokens" }],
  ["temperature", "Temperature", { kind: "number", step: "any" }],
  ["top_p", "Top p", { kind: "number", step: "any" }],
  ["top_k", "Top k", { kind: "number" }],
  ["presence_penalty", "Presence penalty", { kind: "number", step: "any" }],
  ["frequency_penalty", "Frequency penalty", { kind: "number", step: "any" }],
]);

/** @param {any} form @param {string} under @param {import("./families.js").Option} option */
function option(form, under, [path, label, { kind, help, words, unit, step }]) {
  const props = { form, name: `${under}.${path}`, key: path, label, help };
  if (kind === "number") return html`<${Amount} ...${props} unit=${unit} step=${step ?? 1} />`;
  if (kind === "switch") return html`<${YesNo} ...${props} usual="as the vendor has it" />`;
  if (kind === "words") return html`<${Choice} ...${props} none="as the vendor has it" options=${(words ?? []).map((each) => [each, each])} />`;
  if (kind === "list") return html`<${List} ...${props} />`;
  return html`<${Text} ...${props} mono />`;
}
