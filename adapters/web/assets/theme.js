/** The look that a user prefers, on the element of the whole page. */

import {embeddedTheme} from "./embed.js";
import {letters} from "./keys.js";
import {preferences} from "./preferences.js";
import {effect} from "./ui.js";

/** Follow the preferences from now on. */
export function followLook() {
  const root = document.documentElement;
  effect(() => {
    const theme = embeddedTheme || preferences.theme.value;
    root.dataset.theme = theme === "contrast" ? "" : theme;
    root.dataset.contrast = theme === "contrast" || preferences.contrast.value ? "more" : "";
    root.dataset.density = preferences.density.value;
    root.style.setProperty("--reading", `${preferences.textSize.value}px`);
    const column = preferences.column.value;
    root.style.setProperty("--column", column ? `${column}px` : "100%");
    letters.on = preferences.letters.value;
  });
}
