/** Limits of spending, the prices that they rest on, and who spent what. */
import {html} from "../../ui.js";
import {money} from "../../text/money.js";
import {api} from "../../wire/api.js";
import {Amount, Choice, Text} from "../fields.js";
import {Form, useForm} from "../form.js";
import {Loaded, useLoaded} from "../loading.js";
import {Act, More, Page, Row, Rows, Section} from "../page.js";
import {calls, cost} from "../personal/usage.js";

const LIMITS = "/api/v2/ai/limits";
const PRICES = "/api/experimental/ai/model-prices";
const MICROS = 1e6;
const PERIODS = [["day", "a day"], ["month", "a month"]];
const KINDS = [["input", "Input", ""], ["output", "Output", ""], ["cache_read", "From the cache", "as input"], ["cache_creation", "Into the cache", "as input"], ["reasoning", "Thoughts", "as output"]];

export function View() {
  const loaded = useLoaded(async () => {
    const [organization] = await api.get("/api/v2/organizations");
    const [limits, groups, users, prices, spent] = await Promise.all([
      api.get(LIMITS),
      api.get(`/api/v2/organizations/${organization.id}/groups`),
      api.get("/api/v2/users", { limit: "200" }),
      api.get(PRICES),
      api.get("/api/v2/ai/usage", { by: "user" }),
    ]);
    return { organization, limits, groups, users: users.users, prices, spent: spent.rows };
  });
  return html`<${Page} title="Spending" lead="Limits of what chats spend on models. Money is set aside before each call; at a soft limit a person is asked, at a hard one the turn ends.">
    <${Loaded} of=${loaded}>${(/** @type {any} */ found) => html`<${Spending} ...${found} again=${loaded.again} />`}<//>
  <//>`;
}

/** @param {any} props */
function Spending({ organization, limits, groups, users, prices, spent, again }) {
  const table = `/api/v2/organizations/${organization.id}/ai/spend/export`;
  return html`
    <${Section} title="Limits">
      <${Rows} empty="There is no limit.">${limits.map((/** @type {any} */ each) => html`<${Limit} key=${each.scope + each.subject_id + each.period} limit=${each} again=${again} />`)}<//>
      <${NewLimit} groups=${groups} users=${users} again=${again} />
    <//>
    <${Section} title="Prices" lead="In dollars for a million tokens. A price of your own goes before the bundled table. Under a limit, a model without any price is refused.">
      <${Rows} empty="No price is stated.">${Object.entries(prices.prices).map(([name, price]) => html`<${Row} key=${name} title=${name} more=${inWords(price)} side=${html`<${Act} class="btn bad" label=${`Remove the price of ${name}`} run=${() => changePrices((now) => without(now, name)).then(again)}>Remove<//>`} />`)}
        ${prices.default_price && html`<${Row} title="All other models" more=${inWords(prices.default_price)} side=${html`<${Act} class="btn bad" label="Remove the price of all other models" run=${() => changePrices((now) => ({ ...now, default_price: null })).then(again)}>Remove<//>`} />`}<//>
      <${NewPrice} again=${again} />
    <//>
    <${Section} title="Spent this month" act=${html`<a class="btn" href=${table} download="spend.csv">As a table</a>`}>
      <${Rows} empty="No model was asked this month.">${spent.map((/** @type {any} */ each) => html`<${Row} key=${each.user_id} title=${each.username ?? "a user who is gone"} more=${calls(each)} side=${cost(each)} />`)}<//>
    <//>`;
}

/** @param {{limit: any, again: () => Promise<void>}} props */
function Limit({ limit, again }) {
  const { scope, subject_id, name, period, limit_micros: hard, soft_limit_micros: soft } = limit;
  const title = { deployment: "All users together", group: `Each member of ${name}`, user: name }[/** @type {string} */ (scope)];
  const words = [hard !== null && `at most ${money(hard)}`, soft !== null && `asked beyond ${money(soft)}`].filter(Boolean).join(", ");
  const remove = () => api.put(LIMITS, { scope, period, ...(scope === "deployment" ? {} : { subject_id }) }).then(again);
  return html`<${Row} title=${title} more="${words} in a ${period}" side=${html`<${Act} class="btn bad" label=${`Remove the limit: ${title}, ${period}`} run=${remove}>Remove<//>`} />`;
}

/** @param {{groups: any[], users: any[], again: () => Promise<void>}} props */
function NewLimit({ groups, users, again }) {
  const form = useForm({ whose: "deployment:", period: "month" }, async ({ whose, period, hard, soft }) => {
    const [scope, subject] = whose.split(":");
    await api.put(LIMITS, { scope, period, ...(subject ? { subject_id: subject } : {}), limit_micros: micros(hard), soft_limit_micros: micros(soft) });
    await again();
  });
  const options = [
    ["deployment:", "All users together"],
    { label: "Each member of", options: groups.map((each) => [`group:${each.id}`, each.display_name || each.name]) },
    { label: "A user", options: users.map((each) => [`user:${each.id}`, each.username]) },
  ];
  return html`<${Form} form=${form} save="Set the limit" always=${true}>
    <div class="fields-2">
      <${Choice} form=${form} name="whose" label="Whose" options=${options} also=${["subject_id", "scope"]} />
      <${Choice} form=${form} name="period" label="In" options=${PERIODS} />
    </div>
    <div class="fields-2">
      <${Amount} form=${form} name="hard" label="At most" unit="dollars" min=${0} step="any" placeholder="no limit" also=${["limit_micros"]} />
      <${Amount} form=${form} name="soft" label="Ask beyond" unit="dollars" min=${0} step="any" placeholder="never ask" also=${["soft_limit_micros"]} />
    </div>
  <//>`;
}

/** @param {{again: () => Promise<void>}} props */
function NewPrice({ again }) {
  const form = useForm({}, async ({ model, ...amounts }) => {
    const price = Object.fromEntries(Object.entries(amounts).filter(([, each]) => each !== undefined && each !== "").map(([kind, each]) => [kind, String(each)]));
    await changePrices((now) => (model ? { ...now, prices: { ...now.prices, [model]: price } } : { ...now, default_price: price }));
    await again();
  });
  const field = (/** @type {string[]} */ [name, label, holds]) => html`<${Amount} key=${name} form=${form} name=${name} label=${label} unit="dollars" min=${0} step="any" placeholder=${holds} />`;
  return html`<${Form} form=${form} save="State the price" always=${true}>
    <${Text} form=${form} name="model" label="Model" mono=${true} placeholder="all other models" help="As provider type and model, such as anthropic/claude-sonnet-4-5. Left empty, it is the price of models that have none." also=${["prices"]} />
    <div class="fields-2">${KINDS.slice(0, 2).map(field)}</div>
    <${More} title="Cached tokens and thoughts"><div class="fields-2">${KINDS.slice(2).map(field)}</div><//>
  <//>`;
}

/** @param {any} price */
const inWords = (price) => KINDS.filter(([name]) => price[name] !== undefined).map(([name, label]) => `${label} $${price[name]}`).join(" · ");

/** @param {any} prices @param {string} name */
function without(prices, name) {
  const { [name]: _, ...rest } = prices.prices;
  return { ...prices, prices: rest };
}

/** The last change of prices that was asked for. @type {Promise<unknown>} */
let before = Promise.resolve();

/**
 * Change the prices as they are now: they are stored as a whole, so that one change follows the other.
 * @param {(prices: any) => any} how
 */
export function changePrices(how) {
  const done = before.then(async () => api.put(PRICES, how(await api.get(PRICES))));
  before = done.catch(() => {});
  return done;
}

/** @param {number | undefined} dollars */
const micros = (dollars) => dollars === undefined ? null : Math.round(dollars * MICROS);
