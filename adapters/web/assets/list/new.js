/** A chat that does not exist yet; and, as long as no model can be asked, what to do about that. */

import { Composer } from "../composer/composer.js";
import { route } from "../routes.js";
import { isAdmin } from "../session.js";
import { icon } from "../shared/icons.js";
import { html, useEffect, useState } from "../ui.js";
import { api } from "../wire/api.js";
import { Back } from "./back.js";
import { useModels } from "./names.js";

export function NewChat() {
  const { state, models } = useModels();
  const usable = models.filter((model) => !model.why);
  const none = state === "ready" && !usable.length;
  const rehearsed = usable.length > 0 && usable.every((model) => model.source === "rehearsal");
  return html`<header class="top">
      <${Back} />
      <h1>New chat</h1><span class="sp"></span>
    </header>
    <div class=${none ? "welcome alone" : "welcome"}>
      ${none ? html`<${NoModel} />` : html`<h2>What should be done?</h2>`}
      ${rehearsed ? html`<${Rehearsed} />` : null}
    </div>
    ${none ? null : html`<${Composer} conversation=${null}
      query=${route.value.query} />`}`;
}

/** Say whether a provider is set up already, so that only a model is missing. */
function useProviders() {
  const [there, set] = useState(false);
  useEffect(() => {
    const isReal = (/** @type {any} */ provider) => provider.enabled && provider.source !== "rehearsal";
    api.get("/api/v2/ai/providers").then((/** @type {any[]} */ found) => set(found.some(isReal)), () => {});
  }, []);
  return there;
}

/** The page of a deployment that nobody has set up yet. */
function NoModel() {
  return html`<h2>There is no model yet</h2>
    ${isAdmin.value ? html`<${NextSteps} />` : html`<p>An administrator has to set up a model provider first. <${WhomToAsk} /></p>`}`;
}

/** What an administrator does next. */
function NextSteps() {
  const hasProvider = useProviders();
  return html`<p>${hasProvider ? "A provider is set up. Name a model of it, and chats can begin." : "Chats are answered by a model of a provider."}</p>
    <ol class="steps">
      <li><a class=${hasProvider ? "btn" : "btn main"}
        href="/admin/providers">${icon("key")}${hasProvider ? "Providers" : "Set up a provider"}</a>
        <span class="dim">Anthropic, OpenAI, Google and others, or one of your own</span></li>
      <li><a class=${hasProvider ? "btn main" : "btn"} href="/admin/models">${icon("plus")}Name a model</a>
        <span class="dim">and which one is the default</span></li>
    </ol>`;
}

/** Says that answers are made up. */
function Rehearsed() {
  return html`<div class="first-start" role="note">${icon("warn")}
    <p><b>This is a rehearsal.</b> No model provider is set up, so built-in sentences answer, offline.
    ${isAdmin.value ? html` <a
      href="/admin/providers">Set up a provider</a> to talk to a real model.` : html` <${WhomToAsk} />`}</p>
  </div>`;
}

/** Names those who look after the deployment. */
function WhomToAsk() {
  const [admins, setAdmins] = useState(/** @type {string[]} */ ([]));
  useEffect(() => {
    api.get("/api/v2/organizations/default/members").then(
      (/** @type {any[]} */ members) =>
        setAdmins(members.filter(isOwner).map((member) => member.name || member.username)),
      () => {},
    );
  }, []);
  return admins.length ? html`Ask ${listed(admins)}.` : html`Ask an administrator.`;
}

/** @param {any} member */
const isOwner = (member) => member.global_roles?.some((/** @type {any} */ role) => role.name === "owner");

/** @param {string[]} names */
function listed(names) {
  const shown = names.slice(0, 3);
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} or ${shown.at(-1)}`;
}
