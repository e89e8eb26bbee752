/**
 * All pages of the settings: where they are, what they are called, and the module of each, which is
 * loaded when it is opened.
 * @typedef {{path: string, title: string, icon: string, load: () => Promise<any>, words?: string}} SettingsEntry
 * `words` are others by which a person may look for it
 */

/** @type {{title: string, pages: SettingsEntry[]}[]} */
export const PERSONAL = [
  {
    title: "You",
    pages: [
      { path: "/settings/profile", title: "Name and password", icon: "user", load: () => import("./personal/profile.js"), words: "account email username" },
      { path: "/settings/sessions", title: "Sessions", icon: "globe", load: () => import("./personal/sessions.js"), words: "log out browsers devices" },
      { path: "/settings/tokens", title: "Tokens", icon: "term", load: () => import("./personal/tokens.js"), words: "api access program" },
    ],
  },
  {
    title: "Your chats",
    pages: [
      { path: "/settings/instructions", title: "Instructions", icon: "quote", load: () => import("./personal/instructions.js"), words: "prompt custom" },
      { path: "/settings/skills", title: "Skills", icon: "book", load: () => import("./personal/skills.js"), words: "import markdown" },
      { path: "/settings/models", title: "Models", icon: "brain", load: () => import("./personal/models.js"), words: "effort agents explore override" },
      { path: "/settings/usage", title: "Usage", icon: "tag", load: () => import("./personal/usage.js"), words: "spend cost budget limit money" },
      { path: "/settings/summaries", title: "Summaries", icon: "wrap", load: () => import("./personal/summaries.js"), words: "compaction context threshold" },
      { path: "/settings/records", title: "Records of calls", icon: "term", load: () => import("./personal/records.js"), words: "debug logging recorded model calls" },
      { path: "/settings/keys", title: "Your own keys", icon: "key", load: () => import("./personal/keys.js"), words: "provider api key" },
      { path: "/settings/forges", title: "Forges", icon: "tree", load: () => import("./personal/forges.js"), words: "github gitlab token pull request push git" },
      { path: "/settings/consent", title: "Consent", icon: "check", load: () => import("./personal/consent.js"), words: "approvals rules allow commands" },
      { path: "/settings/servers", title: "Tool servers", icon: "plug", load: () => import("./personal/servers.js"), words: "mcp log in connect" },
      { path: "/settings/webhooks", title: "Webhooks", icon: "link", load: () => import("./webhooks.js").then((module) => ({ View: module.OwnWebhooks })), words: "events post http deliveries" },
    ],
  },
  {
    title: "This browser",
    pages: [
      { path: "/settings/display", title: "Display and keys", icon: "gear", load: () => import("./personal/display.js"), words: "theme dark light density text size shortcuts enter send" },
      { path: "/settings/notifications", title: "Notifications", icon: "eye", load: () => import("./personal/notifications.js"), words: "sound chime push device" },
    ],
  },
];

/** @type {{title: string, pages: SettingsEntry[]}[]} */
export const ADMIN = [
  {
    title: "Models",
    pages: [
      { path: "/admin/providers", title: "Providers", icon: "globe", load: () => import("./admin/providers.js"), words: "api keys vendors" },
      { path: "/admin/models", title: "Models", icon: "brain", load: () => import("./admin/models.js"), words: "default limits effort options" },
      { path: "/admin/agents", title: "Agents and titles", icon: "tree", load: () => import("./admin/agents.js"), words: "overrides subagents titles summaries" },
      { path: "/admin/advisor", title: "Advisor", icon: "bulb", load: () => import("./admin/advisor.js"), words: "advice" },
      { path: "/admin/desktop", title: "Desktops", icon: "screen", load: () => import("./admin/desktop.js"), words: "computer use provider screen vnc" },
      { path: "/admin/spending", title: "Spending", icon: "tag", load: () => import("./admin/spending.js"), words: "budget limit price cost usage" },
    ],
  },
  {
    title: "Chats",
    pages: [
      { path: "/admin/instructions", title: "Instructions", icon: "quote", load: () => import("./admin/instructions.js"), words: "system prompt plan mode" },
      { path: "/admin/servers", title: "Tool servers", icon: "plug", load: () => import("./admin/servers.js"), words: "mcp tools" },
      { path: "/admin/consent", title: "Consent", icon: "check", load: () => import("./admin/consent.js"), words: "approvals rules policy" },
      { path: "/admin/lifecycle", title: "Lifecycle", icon: "archive", load: () => import("./admin/lifecycle.js"), words: "archive retention delete workspace stop" },
      { path: "/admin/records", title: "Records of calls", icon: "term", load: () => import("./admin/records.js"), words: "debug logging recorded model calls retention" },
      { path: "/admin/templates", title: "Workspace templates", icon: "box", load: () => import("./admin/templates.js"), words: "workspaces" },
    ],
  },
  {
    title: "People",
    pages: [
      { path: "/admin/users", title: "Users", icon: "user", load: () => import("./admin/users.js"), words: "roles one-time links suspend invite" },
      { path: "/admin/webhooks", title: "Webhooks", icon: "link", load: () => import("./webhooks.js").then((module) => ({ View: module.AllWebhooks })), words: "events post http deliveries" },
    ],
  },
];

/** Return the page of an address, and what stands behind it there. @param {string} path */
export function pageAt(path) {
  const all = [...PERSONAL, ...ADMIN].flatMap((group) => group.pages);
  const page = all.find((each) => path === each.path || path.startsWith(`${each.path}/`));
  return { page, rest: page ? path.slice(page.path.length + 1) : "" };
}

/** The pages by one list, for those who look for one. @type {Array<{path: string, title: string, admin?: boolean}>} */
export const SETTINGS_PAGES = [
  ...PERSONAL.flatMap((group) => group.pages).map(({path, title}) => ({path, title: `Settings: ${title}`})),
  ...ADMIN.flatMap((group) => group.pages).map(({path, title}) => ({path, title: `Administration: ${title}`, admin: true})),
];
