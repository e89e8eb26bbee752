/** What a person has spent on models, and what is left of their limits. */
import {html} from "../../ui.js";
import {money} from "../../text/money.js";
import {api} from "../../wire/api.js";
import {Loaded, useLoaded} from "../loading.js";
import {Page, Row, Rows, Section, Tag} from "../page.js";
import {counted} from "../words.js";

const USAGE = "/api/v2/ai/usage";

export function View() {
  const loaded = useLoaded(async () => {
    const [spend, models, days] = await Promise.all([
      api.get("/api/v2/users/me/ai/spend"),
      api.get(USAGE, { by: "model", user: "me" }),
      api.get(USAGE, { by: "day", user: "me" }),
    ]);
    return { spend, models: models.rows, days: days.rows };
  });
  return html`<${Page} title="Usage" lead="What your chats have spent on models this month, agents, titles and summaries included. Days and months are those of UTC.">
    <${Loaded} of=${loaded}>${(/** @type {any} */ found) => html`<${Spent} ...${found} />`}<//>
  <//>`;
}

/** @param {{spend: any, models: any[], days: any[]}} props */
function Spent({ spend, models, days }) {
  return html`
    <${Section} title="Limits">
      <${Rows} empty="No limit holds for you.">${spend.limits.map((/** @type {any} */ each) => html`<${Limit} key=${each.scope + each.period} limit=${each} />`)}<//>
    <//>
    <${Section} title="By model">
      <${Rows} empty="You have asked no model this month.">${models.map((each) => html`<${Row} key=${each.model_config_id} title=${each.model ?? "a model that is gone"} more=${calls(each)} side=${cost(each)} />`)}<//>
    <//>
    <${Section} title="By day" act=${html`<a class="btn" href="${USAGE}?by=day,model,what&user=me&format=csv" download="spend.csv">As a table</a>`}>
      <${Rows} empty="You have asked no model this month.">${[...days].reverse().map((each) => html`<${Row} key=${each.day} title=${each.day} more=${calls(each)} side=${cost(each)} />`)}<//>
    <//>`;
}

/** A limit with a meter of what is used. @param {{limit: any}} props */
export function Limit({ limit }) {
  const { spent_micros: spent, reserved_micros: held, limit_micros: hard, soft_limit_micros: soft } = limit;
  const most = hard ?? soft;
  const title = `${limit.period === "day" ? "Today" : "This month"}, ${whose(limit)}`;
  const more = [
    `${money(spent)} of ${money(most)}${hard === null ? ", then you are asked" : ""}`,
    held > 0 && `${money(held)} set aside for running calls`,
    hard !== null && soft !== null && `you are asked from ${money(soft)} on`,
    `begins anew on ${limit.period_end.slice(0, 10)}`,
  ].filter(Boolean).join(" · ");
  return html`<${Row} title=${title} more=${more}
    tags=${limit.is_reached && html`<${Tag} tone="bad">used up<//>`}
    side=${html`<meter class="spent" min="0" max=${Math.max(most, 1)} low=${soft ?? most * 0.8} high=${most * 0.95} optimum="0" value=${limit.is_reached ? Math.max(most, 1) : Math.min(spent, most)} aria-label=${`${title}: ${money(spent)} of ${money(most)}`}></meter>`} />`;
}

/** @param {any} limit */
function whose({ scope, name }) {
  if (scope === "deployment") return "all users together";
  return scope === "group" ? `as a member of ${name}` : "you";
}

/** @param {any} row */
export const calls = (row) => [
  counted(row.request_count, "call"),
  `${row.input_tokens.toLocaleString("en")} tokens read`,
  `${row.output_tokens.toLocaleString("en")} written`,
  row.unpriced_request_count > 0 && `${row.unpriced_request_count} at an unknown price`,
].filter(Boolean).join(" · ");

/** @param {any} row */
export const cost = (row) => html`<b class="num">${money(row.cost_micros, row.unpriced_request_count)}</b>`;
