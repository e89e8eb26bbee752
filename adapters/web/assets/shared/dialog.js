/** Dialogs: what has to be answered before anything else. The focus goes back to where it was. */

import {html, render, useEffect, useRef} from "../ui.js";

/** @param {{label: string, className?: string, onClose: () => void, children: any}} props */
export function Dialog({label, className = "", onClose, children}) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const beside = (/** @type {MouseEvent} */ event) => event.target === element.current && onClose();
  const cancelled = (/** @type {Event} */ event) => {
    event.preventDefault();
    onClose();
  };
  return html`<dialog ref=${element} class="dialog ${className}" aria-label=${label}
    onCancel=${cancelled} onMouseDown=${beside}>${children}</dialog>`;
}

/**
 * Show a dialog of its own: view(({close}) => html…). `close(value)` settles the promise.
 * @param {(how: {close: (value?: any) => void}) => any} view
 * @param {{label: string, className?: string}} how
 * @returns {Promise<any>} undefined if it was closed without an answer
 */
export function openDialog(view, {label, className}) {
  return new Promise((resolve) => {
    const place = document.body.appendChild(document.createElement("div"));
    /** @param {any} [value] */
    const close = (value) => {
      render(null, place);
      place.remove();
      resolve(value);
    };
    const Inner = () => view({close});
    render(html`<${Dialog} label=${label} className=${className} onClose=${() => close()}>
      <${Inner} />
    </${Dialog}>`, place);
  });
}

/**
 * Ask a question that is answered by yes or no.
 * @param {{title: string, text?: string, yes?: string, no?: string, danger?: boolean}} what
 * @returns {Promise<boolean>}
 */
export async function ask({title, text, yes = "Yes", no = "Cancel", danger = false}) {
  const answer = await openDialog(
    ({close}) => html`<form onSubmit=${(/** @type {Event} */ event) => {
      event.preventDefault();
      close(true);
    }}>
      <h2>${title}</h2>
      ${text && html`<p>${text}</p>`}
      <footer>
        <button type="button" class="btn" onClick=${() => close(false)}>${no}</button>
        <button class=${danger ? "btn bad" : "btn main"} autofocus>${yes}</button>
      </footer>
    </form>`,
    {label: title},
  );
  return answer === true;
}
