/** What a page reads from the server, and the states that it can be in. */
import {html, signal, useEffect, useMemo, useState} from "../ui.js";
import {ApiError} from "../wire/api.js";

/**
 * Read something when the view opens, and again when it is asked for.
 * @template T @param {() => Promise<T>} read @param {any[]} [of] what it depends on
 */
export function useLoaded(read, of = []) {
  const loaded = useMemo(() => ({
    state: signal(/** @type {"loading" | "ready" | "failed"} */ ("loading")),
    value: signal(/** @type {T | null} */ (null)),
    error: signal(/** @type {any} */ (null)),
    again: async () => {},
  }), of);
  useEffect(() => {
    let turns = 0; // the last one that was asked for counts
    loaded.again = async () => {
      const turn = ++turns;
      const isLast = () => turn === turns;
      try {
        const found = await read();
        if (isLast()) { loaded.value.value = found; loaded.state.value = "ready"; }
      } catch (error) {
        if (isLast()) { loaded.error.value = error; loaded.state.value = "failed"; }
      }
    };
    void loaded.again();
    return () => { turns = NaN; }; // which no turn is
  }, [loaded]);
  return loaded;
}

/** @param {{of: ReturnType<typeof useLoaded>, children: (value: any) => any}} props */
export function Loaded({ of, children }) {
  if (of.state.value === "loading") return html`<${Waiting} />`;
  if (of.state.value === "failed") return html`<${Failed} error=${of.error.value} again=${of.again} />`;
  return children(of.value.value);
}

/** Nothing for 150 ms, then the place of what comes. */
function Waiting() {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), 150);
    return () => clearTimeout(timer);
  }, []);
  return html`<div class="set-waits" aria-busy="true">${isLong && html`<span class="sr" role="status">Loading…</span><i></i><i></i><i></i>`}</div>`;
}

/** @param {{error: any, again: () => Promise<void>}} props */
export function Failed({ error, again }) {
  const status = error instanceof ApiError ? error.status : 0;
  if (status === 403 || status === 404) return html`<div class="set-empty" role="alert"><p>${status === 404 ? "This is not here, or not for you to see." : error.message}</p>${error.detail && html`<p>${error.detail}</p>`}</div>`;
  return html`<div class="set-empty" role="alert">
    <p>It could not be read: ${error.message || "the daemon did not answer"}</p>
    <button class="btn" onClick=${() => void again()}>Try again</button>
  </div>`;
}
