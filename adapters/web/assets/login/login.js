/** The login over the page: a session has ended, and what was being done waits. */

import {csrf, loggedIn, me} from "../session.js";
import {Dialog} from "../shared/dialog.js";
import {html, useEffect, useState} from "../ui.js";

/** @param {FormData} form @returns {Promise<string>} what went wrong, or "" */
async function logIn(form) {
  const body = JSON.stringify({username: form.get("login"), password: form.get("password")});
  const headers = {"content-type": "application/json", "x-csrf-token": csrf()};
  try {
    const answer = await fetch("/api/v2/users/login", {method: "POST", headers, body});
    const said = await answer.json();
    if (!answer.ok) return [said.message, said.detail].filter(Boolean).join(" ");
    loggedIn(await (await fetch("/api/v2/users/me")).json());
    return "";
  } catch {
    return "The daemon cannot be reached. Try again.";
  }
}

/** Somebody comes back to this tab: they may have logged in at another one. */
function useOtherTabs() {
  useEffect(() => {
    const look = async () => {
      if (document.hidden) return;
      const answer = await fetch("/api/v2/users/me").catch(() => null);
      if (answer?.ok) loggedIn(await answer.json());
    };
    addEventListener("focus", look);
    document.addEventListener("visibilitychange", look);
    return () => {
      removeEventListener("focus", look);
      document.removeEventListener("visibilitychange", look);
    };
  }, []);
}

export function Login() {
  useOtherTabs();
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState(false);
  const send = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    setBusy(true);
    setFault(await logIn(new FormData(/** @type {HTMLFormElement} */ (event.target))));
    setBusy(false);
  };
  const known = me.value?.username || "";
  return html`<${Dialog} label="Log in" className="login" onClose=${() => {}}>
    <form onSubmit=${send}>
      <h2>Your session has ended</h2>
      <p class="dim">Log in again: what you were doing goes on, nothing is lost.</p>
      ${fault && html`<p class="fault" role="alert">${fault}</p>`}
      <label class="field">Name or email
        <input class="input" name="login" value=${known} autocomplete="username" required
          autocapitalize="none" spellcheck="false" autofocus=${!known} /></label>
      <label class="field">Password
        <input class="input" name="password" type="password" required autofocus=${!!known}
          autocomplete="current-password" /></label>
      <button class="btn main wide" disabled=${busy}>Log in</button>
    </form>
  </${Dialog}>`;
}
