/** How this browser calls a person who looks elsewhere. */
import {html, useEffect, useState} from "../../ui.js";
import {endpointHere} from "../../inbox/device.js";
import {canPush, PUSH, subscribe, unsubscribe} from "../../inbox/push.js";
import {playTone} from "../../notices.js";
import {preferences} from "../../preferences.js";
import {toast} from "../../shared/toast.js";
import {api} from "../../wire/api.js";
import {Kept} from "../kept.js";
import {Loaded, useLoaded} from "../loading.js";
import {Act, Notice, Page, Row, Rows, Section} from "../page.js";

const KINDS = "/api/v2/users/me/notifications/preferences";
const SWITCH = [[true, "On"], [false, "Off"]];

const permissionNow = () => ("Notification" in window ? Notification.permission : "missing");

export function View() {
  const [permission, setPermission] = useState(permissionNow);
  useEffect(() => { // who comes back may have changed it in the browser's own settings
    const look = () => setPermission(permissionNow());
    addEventListener("focus", look);
    return () => removeEventListener("focus", look);
  }, []);
  const change = async (/** @type {boolean} */ wanted) => {
    const now = Notification.permission; // it may have changed in the browser's own settings
    const answer = wanted && now === "default" ? await Notification.requestPermission() : now;
    setPermission(answer);
    preferences.notify.value = wanted && answer === "granted";
  };
  const hear = (/** @type {boolean} */ wanted) => {
    preferences.sound.value = wanted;
    if (wanted) playTone();
  };
  return html`<${Page} title="Notifications">
    <${Section} title="While a tab is open" lead="They come when you look at something else. Kept in this browser.">
      <${Kept} name="sound" label="Sound" options=${SWITCH} change=${hear} help="Two soft notes when a turn ends or fails." />
      ${permission === "missing" ? html`<${Notice}>This browser has no notifications.<//>` : html`<${Kept} name="notify" label="Notifications" options=${SWITCH} change=${change} holds=${preferences.notify.value && permission === "granted"} help="When a chat needs you, and when a turn ends." />`}
      ${permission === "denied" && html`<${Notice} tone="wait">The browser was told to show none from this page. Allow them in its settings for this page first.<//>`}
    <//>
    <${Push} permission=${permission} note=${() => setPermission(permissionNow())} />
    <${Kinds} />
  <//>`;
}

/** @typedef {{id: string, name: string, disabled: boolean}} Kind */

/** What comes into the inbox, and is pushed. */
function Kinds() {
  const loaded = useLoaded(() => api.get(KINDS), []);
  const put = async (/** @type {Kind} */ kind) => {
    await api.put(KINDS, {template_disabled_map: {[kind.id]: !kind.disabled}});
    await loaded.again();
  };
  return html`<${Section} title="What you are told" lead="In your inbox, and by push. Webhooks have events of their own.">
    <${Loaded} of=${loaded}>${(/** @type {Kind[]} */ found) => html`<${Rows}>${found.map((kind) => html`<${Row} key=${kind.id} title=${kind.name} mark=${kind.disabled ? "" : "go"} more=${kind.disabled ? "off" : "on"}
      side=${html`<${Act} label="${kind.disabled ? "On" : "Off"}: ${kind.name}" run=${() => put(kind)}>${kind.disabled ? "On" : "Off"}<//>`} />`)}<//>`}<//>
  <//>`;
}

/** Whether this browser is pushed to. @param {{permission: string, note: () => void}} props */
function Push({ permission, note }) {
  const [isOn, setOn] = useState(!!endpointHere());
  const begin = async () => {
    const answer = permission === "granted" ? permission : await Notification.requestPermission();
    note();
    if (answer !== "granted") throw new Error("The browser does not allow notifications of this page.");
    await subscribe();
    setOn(true);
  };
  const end = async () => {
    await unsubscribe();
    setOn(false);
  };
  const test = async () => {
    await api.post(`${PUSH}/test`);
    toast("Sent to all your browsers");
  };
  return html`<${Section} title="While no tab is open" lead="Your browser shows what needs you, and what has ended or failed. It is encrypted for this browser. What you look at is not shown.">
    ${!canPush() ? html`<${Notice}>Not in this browser, or not at this address: it needs https, or localhost.<//>` : html`<p class="pair" role="group" aria-label="Push">
      ${isOn ? html`<${Act} run=${end}>Stop push in this browser<//><${Act} run=${test}>Send a trial<//>` : html`<${Act} class="btn main" run=${begin}>Push to this browser<//>`}</p>`}
    ${isOn && html`<${Notice} tone="go">This browser is pushed to.<//>`}
  <//>`;
}
