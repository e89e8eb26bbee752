// A shell of one's own in the workspace: the screen of a terminal.

import { effect, html, signal, useEffect, useRef, useSignal } from "../ui.js";
import { preferences } from "../preferences.js";
import { openTerminal } from "../wire/terminal_line.js";
import { coloursOf } from "./shell_colours.js";

const WAITING_BYTES_MAX = 2 * 1024 * 1024; // that the screen has not drawn; more is left to the daemon, and asked for again
const SCROLLBACK_LINES = 5000;
const RESIZE_MS = 100; // without another change of size; then the shell is told

/** @typedef {{exit: number, why: string}} End */

/** @param {{workspace: string, id: string, onEnd: (end: End) => void}} props */
export function Shell({ workspace, id, onEnd }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const state = useSignal("Opening the shell…");
  useEffect(() => {
    let isOver = false;
    let close = () => {};
    import("../vendor/xterm.js").then(
      (library) => void (isOver || (close = begin(library, { box: /** @type {HTMLElement} */ (box.current), workspace, id, onEnd, state }))),
      () => (state.value = "The screen of terminals could not be loaded; reload the page."),
    );
    return () => {
      isOver = true;
      close();
    };
  }, [workspace, id]);
  return html`<div class="shell"><div class="screen" ref=${box}></div>
    <div class="hint"><span role="status">${state.value || html`<kbd>Shift</kbd> <kbd>Esc</kbd> leaves the shell.`}</span>
      <button type="button" class="link" aria-pressed=${isRead.value} onClick=${() => (isRead.value = !isRead.value)}>Screen reader</button></div></div>`;
}

const KEY = "shell-reader";

/** Whether the lines of the screen are there for a screen reader. It costs time where much is written, and some input methods. */
const isRead = signal(localStorage.getItem(KEY) === "on");
effect(() => localStorage.setItem(KEY, isRead.value ? "on" : "off"));

/**
 * Show a terminal in a box. Returns what ends that.
 * @param {typeof import("../vendor/xterm.js")} library
 * @param {{box: HTMLElement, workspace: string, id: string, onEnd: (end: End) => void, state: import("../ui.js").Signal<string>}} parts
 */
function begin(library, { box, workspace, id, onEnd, state }) {
  const style = getComputedStyle(box);
  const terminal = new library.Terminal({
    fontFamily: style.fontFamily, fontSize: parseFloat(style.fontSize), lineHeight: 1.2, scrollback: SCROLLBACK_LINES,
    minimumContrastRatio: 4.5, macOptionIsMeta: true, theme: coloursOf(box),
    cursorBlink: !matchMedia("(prefers-reduced-motion: reduce)").matches,
  });
  const fit = new library.FitAddon();
  terminal.loadAddon(fit);
  terminal.open(box);
  terminal.textarea?.setAttribute("aria-label", "Shell");
  terminal.attachCustomKeyEventHandler((event) => !leaves(event));
  const line = openTerminal({
    workspace, id,
    onOutput: drawer(terminal, () => line.again()),
    onSize: (rows, columns) => terminal.resize(columns, rows),
    onEnd: (end) => {
      state.value = endWords(end);
      onEnd(end);
    },
    onState: (said) => (state.value = LINE_WORDS[said.state]),
  });
  terminal.onData(line.type);
  terminal.onBinary(line.bytes);
  const tell = () => {
    const wanted = fit.proposeDimensions();
    if (wanted && wanted.cols > 1 && wanted.rows > 0) line.resize(wanted.rows, wanted.cols);
  };
  const unfollow = followSize(box, tell, state);
  const unread = isRead.subscribe((value) => (terminal.options.screenReaderMode = value));
  const unlook = followLook(() => (terminal.options.theme = coloursOf(box)));
  // The size of the page that is typed into is the one that counts.
  terminal.textarea?.addEventListener("focus", tell);
  terminal.focus();
  return () => {
    unfollow();
    unlook();
    unread();
    line.close();
    terminal.dispose();
  };
}

/** Look again at the colours whenever the page, or the system, has others. @param {() => void} look */
function followLook(look) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const soon = () => void requestAnimationFrame(look);
  dark.addEventListener("change", soon);
  const unfollow = preferences.theme.subscribe(soon);
  return () => {
    dark.removeEventListener("change", soon);
    unfollow();
  };
}

const LINE_WORDS = { wait: "Opening the shell…", live: "", broken: "The line is broken; it is being dialled again.", gone: "The shell is not there any more." };

/** @param {End} end */
const endWords = ({ exit, why }) => (why ? `The shell has ended: ${why}.` : `The shell has ended (exit ${exit}).`);

/** Shift and Escape leave the shell: Tab and Escape are keys of its programs. @param {KeyboardEvent} event */
function leaves(event) {
  if (event.key !== "Escape" || !event.shiftKey) return false;
  if (event.type === "keydown") document.getElementById("tab-terminal")?.focus();
  event.preventDefault();
  event.stopPropagation();
  return true;
}

/**
 * Return what draws output. What comes faster than it is drawn is let go, and asked for again.
 * @param {import("../vendor/xterm.js").Terminal} terminal @param {() => void} again
 */
function drawer(terminal, again) {
  let waiting = 0;
  let isBehind = false;
  return (/** @type {Uint8Array} */ bytes, /** @type {boolean} */ lost) => {
    isBehind ||= waiting > WAITING_BYTES_MAX;
    if (isBehind) return;
    if (lost) terminal.reset();
    waiting += bytes.length;
    terminal.write(bytes, () => {
      waiting -= bytes.length;
      if (!isBehind || waiting) return;
      isBehind = false;
      terminal.reset();
      again();
    });
  };
}

/**
 * Tell the shell the size of the box whenever it has come to rest.
 * @param {HTMLElement} box @param {() => void} tell @param {import("../ui.js").Signal<string>} state
 */
function followSize(box, tell, state) {
  let timer = /** @type {any} */ (0);
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(tell, RESIZE_MS);
  };
  const observer = new ResizeObserver(soon);
  observer.observe(box);
  const unfollow = state.subscribe((words) => words || tell()); // the line is open now
  return () => {
    observer.disconnect();
    unfollow();
    clearTimeout(timer);
  };
}
