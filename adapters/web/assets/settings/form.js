/**
 * A form of the settings: what was saved, what stands in the fields, what the server found wrong.
 * It is saved by its button, and asks before it is left with changes.
 */
import {Fragment, batch, computed, html, signal, useEffect, useMemo} from "../ui.js";
import {holdRoute} from "../routes.js";
import {ask} from "../shared/dialog.js";
import {faultsOf, isSame, valueAt, withValue} from "./values.js";

/** @typedef {{field: string, detail: string}} Fault */
/** @typedef {ReturnType<typeof makeForm>} FormState */

let made = 0;

/**
 * @param {any} first what is saved @param {(values: any) => any} send saves it; what it returns,
 * if anything, is what is saved then
 */
export function makeForm(first, send) {
  const saved = signal(first), values = signal(first);
  const faults = signal(/** @type {Fault[]} */ ([])); // what the server found wrong
  const unfit = signal(/** @type {Record<string, string>} */ ({})); // what is typed and is no value, with why
  const form = {
    id: `form${++made}`, saved, values, faults, unfit,
    failure: signal(/** @type {any} */ (null)),
    busy: signal(false), done: signal(false), round: signal(0),
    changed: computed(() => !isSame(saved.value, values.value) || Object.keys(unfit.value).length > 0),
    shown: /** @type {Set<string>} */ (new Set()), // the names of fields that show their own faults
    /** @param {string} name */
    get: (name) => valueAt(values.value, name),
    /** @param {string} name @param {any} value */
    set(name, value) {
      batch(() => {
        values.value = withValue(values.value, name, value);
        faults.value = faults.value.filter((fault) => !faultsOf([fault], [name]).length);
      });
    },
    /** @param {string} name @param {string} why "": what is typed is a value */
    note(name, why) {
      const { [name]: before = "", ...others } = unfit.peek();
      if (before !== why) unfit.value = why ? { ...others, [name]: why } : others;
    },
    reset: () => reset(form),
    /** @returns {Promise<boolean>} whether it is saved */
    save: () => save(form, send),
  };
  return form;
}

/** Put back what is saved; the fields begin anew. @param {any} form @returns {void} */
function reset(form) {
  batch(() => {
    form.values.value = form.saved.value;
    form.faults.value = [];
    form.failure.value = null;
    form.unfit.value = {};
    form.round.value += 1;
  });
}

/** @param {any} form @param {(values: any) => any} send @returns {Promise<boolean>} */
async function save(form, send) {
  if (form.busy.value || Object.keys(form.unfit.value).length) return false;
  batch(() => { form.busy.value = true; form.faults.value = []; form.failure.value = null; form.done.value = false; });
  const sent = form.values.value;
  try {
    const answer = await send(sent);
    batch(() => {
      const isUntouched = form.values.value === sent;
      form.saved.value = answer ?? sent;
      if (isUntouched) form.values.value = form.saved.value;
      form.done.value = true;
    });
    return true;
  } catch (error) {
    batch(() => { form.failure.value = error; form.faults.value = /** @type {any} */ (error)?.validations ?? []; });
    return false;
  } finally {
    form.busy.value = false;
  }
}

/**
 * Make the form of a view. What is read anew takes the place of what was saved; what a person has
 * typed meanwhile stays.
 * @param {any} saved @param {(values: any) => any} send
 */
export function useForm(saved, send) {
  const latest = useMemo(() => ({ send }), []);
  latest.send = send;
  const form = useMemo(() => makeForm(saved, (values) => latest.send(values)), []);
  useEffect(() => batch(() => {
    if (isSame(form.saved.peek(), saved)) return;
    if (!form.changed.peek()) form.values.value = saved;
    form.saved.value = saved;
  }), [JSON.stringify(saved)]);
  return form;
}

/**
 * @param {{form: FormState, save?: string, children: any, beside?: any, always?: boolean}} props
 * `always`: may be saved without a change, as something new is
 */
export function Form({ form, save = "Save", children, beside, always = false }) {
  useLeaving(form);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    void form.save().then((isDone) => isDone || focusFault(form.id));
  };
  const keys = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "s" && (event.metaKey || event.ctrlKey)) submit(event);
  };
  return html`<form class=${form.changed.value && !always ? "form is-changed" : "form"} id=${form.id} noValidate onSubmit=${submit} onKeyDown=${keys}>
    <${Fragment} key=${form.round.value}>${children}<//>
    <${Failure} form=${form} />
    <footer class="form-foot">
      <button class="btn main" disabled=${form.busy.value || !(form.changed.value || always)}>${form.busy.value ? "Saving…" : save}</button>
      ${form.changed.value && !always && html`<button type="button" class="btn quiet" onClick=${form.reset}>Discard</button>`}
      <span class="form-says" role="status">${form.done.value && !form.changed.value ? "Saved" : ""}</span>
      ${beside}
    </footer>
  </form>`;
}

/** What the server said that no field shows. @param {{form: FormState}} props */
function Failure({ form }) {
  const failure = form.failure.value;
  if (!failure) return null;
  const rest = form.faults.value.filter((fault) => !faultsOf([fault], [...form.shown]).length);
  const detail = form.faults.value.length ? "" : failure.detail;
  return html`<div class="form-fault" role="alert">
    <b>${failure.message || "It could not be saved."}</b>
    ${detail && html`<p>${detail}</p>`}
    ${rest.map((fault) => html`<p key=${fault.field}>${fault.field && html`<code>${fault.field}</code>`} ${fault.detail}</p>`)}
  </div>`;
}

/** @param {string} id */
function focusFault(id) {
  /** @type {HTMLElement | null} */ (document.querySelector(`#${id} [aria-invalid=true]`))?.focus();
}

const LEAVING = {
  title: "Leave without saving?",
  text: "What you changed here is not saved.",
  yes: "Leave", no: "Stay", danger: true,
};

/** @param {FormState} form */
function useLeaving(form) {
  useEffect(() => {
    const unload = (/** @type {BeforeUnloadEvent} */ event) => { if (form.changed.peek()) event.preventDefault(); };
    addEventListener("beforeunload", unload);
    const free = holdRoute(() => !form.changed.peek() || form.busy.peek() || ask(LEAVING));
    return () => { removeEventListener("beforeunload", unload); free(); };
  }, [form]);
}
