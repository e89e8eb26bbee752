// The screen of a terminal. Its style sheets are adopted, which the policy of our pages allows, and
// not written into elements, which it forbids: `vendor.py` has it make `terminal-sheet`s instead.

import {FitAddon} from "@xterm/addon-fit";
import {Terminal} from "@xterm/xterm";
import css from "@xterm/xterm/css/xterm.css";

class TerminalSheet extends HTMLElement {
  #sheet = new CSSStyleSheet();

  connectedCallback() {
    document.adoptedStyleSheets.push(this.#sheet);
  }

  disconnectedCallback() {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== this.#sheet);
  }

  set textContent(text) {
    this.#sheet.replaceSync(text);
  }
}

customElements.define("terminal-sheet", TerminalSheet);
const sheet = new CSSStyleSheet();
sheet.replaceSync(css);
document.adoptedStyleSheets.push(sheet);

export {FitAddon, Terminal};
