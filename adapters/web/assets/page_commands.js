/** The commands of the page as a whole. Those of a chat, a card or a row stand with them. */

import {command} from "./commands.js";
import {showOverlay} from "./overlay.js";
import {preferences} from "./preferences.js";
import {go} from "./routes.js";
import {isAdmin, needsLogin} from "./session.js";
import {toast} from "./shared/toast.js";
import {api} from "./wire/api.js";

const THEMES = {system: "As the system has it", light: "Light", dark: "Dark", contrast: "High contrast"};
const DENSITIES = {compact: "Compact", normal: "Normal", comfortable: "Comfortable"};

async function logOut() {
  try {
    await api.post("/api/v2/users/logout");
    location.assign("/login");
  } catch (error) {
    toast(`You are still logged in: ${error instanceof Error ? error.message : error}`);
  }
}

/** @param {string} group @param {string} name @param {Record<string, string>} values */
function registerChoice(group, name, values) {
  for (const [value, title] of Object.entries(values)) {
    const run = () => void (preferences[name].value = value);
    command({id: `${name}.${value}`, title, group, run});
  }
}

/** Make them known. */
export function registerPage() {
  const open = () => showOverlay(() => import("./palette.js").then((module) => module.load()));
  const keys = () => showOverlay(() => import("./keys_help.js").then((module) => module.load()));
  const when = () => !needsLogin.value;
  command({id: "palette.open", title: "Search or do…", when, run: open});
  command({id: "keys.show", title: "All keys", when, run: keys});
  command({id: "chat.new", title: "New chat", run: () => go("/new")});
  command({id: "settings.open", title: "Settings", run: () => go("/settings")});
  command({id: "admin.open", title: "Administration", when: () => isAdmin.value, run: () => go("/admin")});
  command({id: "session.end", title: "Log out", run: logOut});
  registerChoice("Theme", "theme", THEMES);
  registerChoice("Density", "density", DENSITIES);
}
