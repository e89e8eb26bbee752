/** Placeholders for the views that are loaded after the first picture, so that nothing moves then. */

import {html} from "./ui.js";

export const ListPlace = () =>
  html`<nav class="side" aria-label="Chats" aria-busy="true"><header><a class="brand" href="/"><i></i>promptcorner</a></header></nav>`;

/** @param {{conversation: import("./conversation.js").Conversation}} props */
export const HeaderPlace = ({conversation}) =>
  html`<header class="top"><h1>${conversation.state.value.chat?.title}</h1></header>`;

export const ComposerPlace = () =>
  html`<div class="comp" aria-busy="true"><div class="box"><div class="txt"></div><div class="bar"><span class="ic"></span></div></div><div class="hint"></div></div>`;
