/** The icons: lines of 1.5 on a grid of 16. A text is a path; other shapes are [name, attributes]. */

import {h} from "../ui.js";

/** @type {Record<string, Array<string | [string, Record<string, string>]>>} */
const SHAPES = {
  search: [["circle", {cx: "7", cy: "7", r: "4.5"}], "m10.5 10.5 3 3"],
  plus: ["M8 3v10M3 8h10"],
  pen: ["M9.5 3.5 12.5 6.5 6 13H3v-3zM8 14h5"],
  term: ["m3 5 3 3-3 3M8 11.5h5"],
  file: ["M4 2h5l3 3v9H4zM9 2v3h3"],
  files: ["M6 4V2h4l3 3v6h-3M3 5h4l3 3v6H3z"],
  brain: ["M6 13.5h4M6.5 11.5v-1C5 9.7 4 8.3 4 6.7a4 4 0 0 1 8 0c0 1.6-1 3-2.5 3.8v1z"],
  chev: ["m6 4 4 4-4 4"],
  down: ["m4 6 4 4 4-4"],
  dots: [["path", {d: "M3.5 8h.01M8 8h.01M12.5 8h.01", "stroke-width": "2.2"}]],
  x: ["m4 4 8 8M12 4l-8 8"],
  up: ["M8 13V3M4 7l4-4 4 4"],
  trash: ["M3 4h10M6.5 4V2.5h3V4M4.5 4l.5 9.5h6l.5-9.5"],
  grip: [["path", {d: "M6 4h.01M10 4h.01M6 8h.01M10 8h.01M6 12h.01M10 12h.01", "stroke-width": "2"}]],
  clip: ["m12.5 7.5-5 5a3 3 0 0 1-4.2-4.2L8.5 3a2 2 0 0 1 2.9 2.9l-5 5a1 1 0 0 1-1.4-1.4L9.5 5"],
  share: [["circle", {cx: "4", cy: "8", r: "1.8"}], ["circle", {cx: "12", cy: "4", r: "1.8"}], ["circle", {cx: "12", cy: "12", r: "1.8"}], "m5.6 7.2 4.8-2.4M5.6 8.8l4.8 2.4"],
  side: [["rect", {x: "2", y: "3", width: "12", height: "10", rx: "1.5"}], "M10 3v10"],
  copy: [["rect", {x: "5", y: "5", width: "8", height: "9", rx: "1"}], "M3 11V2h7"],
  back: ["m10 3-5 5 5 5"],
  globe: [["circle", {cx: "8", cy: "8", r: "5.5"}], "M2.5 8h11M8 2.5c4 3.5 4 7.5 0 11M8 2.5c-4 3.5-4 7.5 0 11"],
  gear: [["circle", {cx: "8", cy: "8", r: "2"}], "M8 2v2M8 12v2M2 8h2M12 8h2M3.8 3.8l1.4 1.4M10.8 10.8l1.4 1.4M12.2 3.8l-1.4 1.4M5.2 10.8l-1.4 1.4"],
  tree: ["M4 2v9a1.5 1.5 0 0 0 1.5 1.5H9M4 6h5", ["rect", {x: "9.5", y: "4.5", width: "4", height: "3"}], ["rect", {x: "9.5", y: "11", width: "4", height: "3"}]],
  plan: ["M3 4h.01M3 8h.01M3 12h.01M6 4h7M6 8h7M6 12h7"],
  q: [["circle", {cx: "8", cy: "8", r: "5.5"}], "M6.5 6.5a1.6 1.6 0 1 1 2.3 1.5c-.6.3-.8.7-.8 1.3M8 11.3h.01"],
  key: [["circle", {cx: "5.5", cy: "10.5", r: "2.5"}], "m7.5 8.5 5-5M11 5l1.5 1.5"],
  plug: ["M6 2v3M10 2v3M4 5h8v2.5a4 4 0 0 1-8 0zM8 11.5V14"],
  bulb: ["M8 2v1.5M3.5 4l1 1M12.5 4l-1 1M5.5 8.5a2.5 2.5 0 1 1 5 0c0 1-.8 1.6-1.2 2.5H6.7c-.4-.9-1.2-1.5-1.2-2.5zM6.7 13.5h2.6"],
  check: ["m3.5 8.5 3 3 6-7"],
  box: ["m8 2 5.5 3v6L8 14l-5.5-3V5zM2.5 5 8 8l5.5-3M8 8v6"],
  book: ["M8 4.5C6.5 3 4.5 3 2.5 3v9c2 0 4 0 5.5 1.5C9.5 12 11.5 12 13.5 12V3c-2 0-4 0-5.5 1.5zM8 4.5v9"],
  clock: [["circle", {cx: "8", cy: "8", r: "5.5"}], "M8 5v3l2 1.5"],
  link: ["M6.5 9.5 9.5 6.5M7 5l1.5-1.5a2.8 2.8 0 0 1 4 4L11 9M9 11l-1.5 1.5a2.8 2.8 0 0 1-4-4L5 7"],
  retry: ["M12.5 8a4.5 4.5 0 1 1-1.3-3.2L12.5 6M12.5 2.5V6H9"],
  wrap: ["M2.5 4h11M2.5 8h9a2.2 2.2 0 0 1 0 4.5H8M2.5 12h2.5M9.5 10.5l-2 2 2 2"],
  download: ["M8 2.5v8M4.5 7.5 8 11l3.5-3.5M3 13.5h10"],
  image: [["rect", {x: "2.5", y: "3", width: "11", height: "10", rx: "1.5"}], ["circle", {cx: "6", cy: "6.5", r: "1"}], "m3 12 3.5-3.5 2 2L11 8l2.5 2.5"],
  stop: [["rect", {x: "4", y: "4", width: "8", height: "8", rx: "1.5"}]],
  warn: ["M8 2.5 14 13H2zM8 6.5v3M8 11.3h.01"],
  quote: ["M6.5 4.5c-2 .5-3 2-3 4v3h3.5v-3.5H5M13 4.5c-2 .5-3 2-3 4v3h3.5v-3.5h-2"],
  expand: ["M9.5 2.5h4v4M6.5 13.5h-4v-4M13.5 2.5 9 7M2.5 13.5 7 9"],
  list: [["rect", {x: "2", y: "3", width: "12", height: "10", rx: "1.5"}], "M6 3v10"],
  pin: ["M6 2.5h4l-.5 4 2 2v1h-7v-1l2-2zM8 9.5v4"],
  archive: [["rect", {x: "2.5", y: "3", width: "11", height: "3", rx: ".5"}], "M3.5 6v7h9V6M6.5 8.5h3"],
  tag: ["M2.5 2.5h5l6 6-5 5-6-6zM5.2 5.2h.01"],
  user: [["circle", {cx: "8", cy: "5.5", r: "2.5"}], "M3 13.5c.5-3 2.5-4 5-4s4.5 1 5 4"],
  filter: ["M2.5 4h11M4.5 8h7M6.5 12h3"],
  eye: ["M1.5 8C3 5 5.3 3.5 8 3.5S13 5 14.5 8C13 11 10.7 12.5 8 12.5S3 11 1.5 8z", ["circle", {cx: "8", cy: "8", r: "2"}]],
  out: ["M6.5 3h-4v10h4M6 8h7.5M11 5.5 13.5 8 11 10.5"],
};

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
