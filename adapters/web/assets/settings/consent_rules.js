/** Rules of consent that can be changed here: those of a user, or those of the deployment. */
import {html, useState} from "../ui.js";
import {api} from "../wire/api.js";
import {Choice, Text} from "./fields.js";
import {Form, useForm} from "./form.js";
import {Act, Notice, Row, Rows, Section, Tag} from "./page.js";

export const WORDS = /** @type {Record<string, [string, string]>} */ ({
  allow: ["go", "runs"], ask: ["wait", "is asked about"], deny: ["bad", "is denied"],
});
const TEST = "chats/config/approvals/test";
const POLICIES = [["allow", "they run"], ["ask", "a person is asked"], ["deny", "they are denied"]];

/** @param {{word: string}} props */
export function Policy({ word }) {
  const [tone, words] = WORDS[word] ?? ["", word];
  return html`<${Tag} tone=${tone}>${words}<//>`;
}

/** @param {{title: string, lead: string, rules: any[], path: string, again: () => Promise<void>}} props */
export function RuleList({ title, lead, rules, path, again }) {
  const remove = async (/** @type {any} */ rule) => {
    await api.del(`${path}/${rule.id}`);
    await again();
  };
  const row = (/** @type {any} */ rule) => html`<${Row} key=${rule.id ?? rule.tool} title=${html`<span class="mono">${rule.tool}</span>`}
    more=${rule.id ? rule.changed_by && `written by ${rule.changed_by}` : "in the daemon's configuration"}
    side=${html`<${Policy} word=${rule.policy} />${rule.id && html`<${Act} class="btn bad" label=${`Remove ${rule.tool}`} run=${() => remove(rule)}>Remove<//>`}`} />`;
  return html`<${Section} title=${title} lead=${lead}>
    <${Rows} empty="There are no rules.">${rules.map(row)}<//>
    <${Writing} path=${path} again=${again} />
  <//>`;
}

/** @param {{path: string, again: () => Promise<void>}} props */
function Writing({ path, again }) {
  const form = useForm({ tool: "", policy: "allow" }, async (values) => {
    await api.put(path, { tool: values.tool.trim(), policy: values.policy });
    await again();
    return { tool: "", policy: values.policy };
  });
  return html`<${Form} form=${form} save="Add the rule">
    <${Text} form=${form} name="tool" label="Calls" mono help="execute(git status *) is a command, write_file(docs/**) a file, mcp:* any tool of a server." />
    <${Choice} form=${form} name="policy" label="What becomes of them" options=${POLICIES} />
  <//>`;
}

/** Try a command against all rules, without running it. */
export function Trial() {
  const [found, setFound] = useState(/** @type {any} */ (null));
  const form = useForm({ command: "" }, async (values) => {
    setFound(await api.post(TEST, { command: values.command }));
    return values;
  });
  return html`<${Section} title="Try a command" lead="What would become of it in your chats. It is not run.">
    <${Form} form=${form} save="Try it"><${Text} form=${form} name="command" label="Command" mono /><//>
    ${found && html`<div role="status"><${Rows} empty="">${found.parts.map((/** @type {any} */ part) => html`<${Row} key=${part.part} title=${html`<span class="mono">${part.part || "the whole command"}</span>`} more=${part.unread || part.rule || "by the policy of the chat"} side=${html`<${Policy} word=${part.decision} />`} />`)}<//>
      ${found.suggested_rules.length > 0 && html`<${Notice}>These would allow it: ${found.suggested_rules.join(", ")}<//>`}</div>`}
  <//>`;
}
