/** How this browser calls a person who looks elsewhere. */
import {html, useEffect, useState} from "../../ui.js";
import {playTone} from "../../notices.js";
import {preferences} from "../../preferences.js";
import {Kept} from "../kept.js";
import {Notice, Page, Section} from "../page.js";

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
  return html`<${Page} title="Notifications" lead="Kept in this browser. They come while promptcorner is open in a tab and you look at something else.">
    <${Section}>
      <${Kept} name="sound" label="Sound" options=${SWITCH} change=${hear} help="Two soft notes when a turn ends or fails." />
      ${permission === "missing" ? html`<${Notice}>This browser has no notifications.<//>` : html`<${Kept} name="notify" label="Notifications" options=${SWITCH} change=${change} holds=${preferences.notify.value && permission === "granted"} help="When a chat needs you, and when a turn ends." />`}
      ${permission === "denied" && html`<${Notice} tone="wait">The browser was told to show none from this page. Allow them in its settings for this page first.<//>`}
    <//>
  <//>`;
}
