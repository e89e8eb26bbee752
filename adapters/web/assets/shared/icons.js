/** The icons: lines of 1.5 on a grid of 16. A text is a path; other shapes are [name, attributes]. */

import {h} from "../ui.js";

/** Those of the first picture; all others are in more_icons.js. @type {Record<string, Array<string | [string, Record<string, string>]>>} */
const SHAPES = {
  pen: ["M9.5 3.5 12.5 6.5 6 13H3v-3zM8 14h5"],
  brain: ["M6 13.5h4M6.5 11.5v-1C5 9.7 4 8.3 4 6.7a4 4 0 0 1 8 0c0 1.6-1 3-2.5 3.8v1z"],
  chev: ["m6 4 4 4-4 4"],
  down: ["m4 6 4 4 4-4"],
  "chev-up": ["m4 10 4-4 4 4"],
  x: ["m4 4 8 8M12 4l-8 8"],
  copy: [["rect", {x: "5", y: "5", width: "8", height: "9", rx: "1"}], "M3 11V2h7"],
  link: ["M6.5 9.5 9.5 6.5M7 5l1.5-1.5a2.8 2.8 0 0 1 4 4L11 9M9 11l-1.5 1.5a2.8 2.8 0 0 1-4-4L5 7"],
  retry: ["M12.5 8a4.5 4.5 0 1 1-1.3-3.2L12.5 6M12.5 2.5V6H9"],
  wrap: ["M2.5 4h11M2.5 8h9a2.2 2.2 0 0 1 0 4.5H8M2.5 12h2.5M9.5 10.5l-2 2 2 2"],
  download: ["M8 2.5v8M4.5 7.5 8 11l3.5-3.5M3 13.5h10"],
  warn: ["M8 2.5 14 13H2zM8 6.5v3M8 11.3h.01"],
  list: [["rect", {x: "2", y: "3", width: "12", height: "10", rx: "1.5"}], "M6 3v10"],
};

/** @param {typeof SHAPES} more */
export const addIcons = (more) => void Object.assign(SHAPES, more);

/**
 * Draw an icon. It says nothing to a screen reader: what it stands on has a name.
 * @param {string} name
 * @param {string} [className]
 */
export function icon(name, className) {
  const shapes = (SHAPES[name] || []).map((shape) =>
    typeof shape === "string" ? h("path", {d: shape}) : h(shape[0], shape[1]),
  );
  return h("svg", {viewBox: "0 0 16 16", class: className, "aria-hidden": "true"}, shapes);
}
