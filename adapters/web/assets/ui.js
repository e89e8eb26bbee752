/** What views are made of: Preact, its hooks and signals, and htm. The one import of every view. */

import {Component, h, htm} from "./vendor/preact.js";

export {
  Fragment, batch, computed, createContext, effect, render, signal, untracked, useCallback,
  useComputed, useContext, useEffect, useId, useLayoutEffect, useMemo, useRef, useSignal,
  useSignalEffect, useState,
} from "./vendor/preact.js";

/** @template T @typedef {import("./vendor/preact.js").Signal<T>} Signal */
/** @template T @typedef {import("./vendor/preact.js").ReadonlySignal<T>} ReadonlySignal */

export {Component, h};

/**
 * Views as text: html`<p class="dim">${words}</p>`. htm would keep what has no values in it and use
 * it again; kept so, it holds on to the tree it was last in, with all that a closed chat had built.
 * @type {(this: any, ...parts: any[]) => any}
 */
function fresh(...parts) {
  this[0] = 3; // htm: keep nothing of this
  return /** @type {any} */ (h)(...parts);
}
export const html = htm.bind(fresh);

/** @param {any} a @param {any} b */
function differ(a, b) {
  for (const key in a) if (!(key in b)) return true;
  for (const key in b) if (!Object.is(a[key], b[key])) return true;
  return false;
}

/**
 * A view that is drawn again only if one of its properties is another one than before.
 * @template {(props: any) => any} View
 * @param {View} view
 * @returns {View}
 */
export function memo(view) {
  class Memo extends Component {
    /** @param {any} next */
    shouldComponentUpdate(next) {
      return differ(this.props, next);
    }

    /** @param {any} props */
    render(props) {
      return h(view, props);
    }
  }
  return /** @type {any} */ (Memo);
}

/** @param {...(string | false | null | undefined)} names @returns {string} */
export function classes(...names) {
  return names.filter(Boolean).join(" ");
}
