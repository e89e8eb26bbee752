/** The pages of the settings: where they are, what they are called, whom they are for. */

/** @type {Array<{path: string, title: string, admin?: boolean}>} */
export const SETTINGS_PAGES = [
  {path: "/settings", title: "Settings"},
];
