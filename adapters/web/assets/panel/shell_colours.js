// The colours of a shell's screen, as our own style sheets have them for the output of commands.

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/** Return the theme of a screen that stands in this box. @param {HTMLElement} box @returns {Record<string, string>} */
export function coloursOf(box) {
  const { color, backgroundColor } = getComputedStyle(box);
  const probe = document.createElement("span");
  box.append(probe);
  /** @type {Record<string, string>} */
  const theme = { foreground: hex(color), background: hex(backgroundColor), cursor: hex(color), cursorAccent: hex(backgroundColor) };
  const at = (/** @type {number} */ number) => {
    probe.className = `fg${number}`;
    return hex(getComputedStyle(probe).color);
  };
  NAMES.forEach((name, number) => {
    theme[name] = at(number);
    theme[`bright${name[0].toUpperCase()}${name.slice(1)}`] = at(number + 8);
  });
  probe.className = "chosen";
  theme.selectionBackground = hex(getComputedStyle(probe).backgroundColor);
  probe.remove();
  return theme;
}

/** A colour as "#rrggbb", which is all that the screen understands. @param {string} colour */
function hex(colour) {
  const canvas = new OffscreenCanvas(1, 1);
  const pen = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d"));
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  return `#${[...pen.getImageData(0, 0, 1, 1).data.slice(0, 3)].map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}
