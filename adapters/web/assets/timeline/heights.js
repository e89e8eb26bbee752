// How high each row is, as far as it has been measured, and where it lies by that. Pure.

/** Heights of what has not been built yet, in pixels: guesses, until it is measured. */
const LINE = 23;
const LETTERS = 88; // in a line of the column

/** @param {import("./items.js").Item} item */
export function guessed(item) {
  if (item.kind === "text") return 40 + LINE * linesOf(item.text);
  if (item.kind === "me") return 90 + LINE * Math.min(26, linesOf(textOf(item.said)));
  if (item.kind === "agents") return 60 + 48 * item.calls.length;
  return 36;
}

/** @param {string} text */
const linesOf = (text) => Math.ceil(text.length / LETTERS) + (text.match(/\n/g)?.length ?? 0) / 2;

/** @param {{content: readonly any[]}} message */
const textOf = (message) => message.content.map((part) => part.text ?? "").join("");

export class Heights {
  /** @type {Map<string, number>} */
  #known = new Map();
  /** @type {readonly import("./items.js").Item[]} */
  #items = [];
  #tops = new Float64Array(1);
  #isStale = true;

  /** @param {readonly import("./items.js").Item[]} items */
  take(items) {
    if (items === this.#items) return;
    this.#items = items;
    this.#isStale = true;
  }

  /** @param {string} key @param {number} height @returns {boolean} whether it is another one */
  measured(key, height) {
    if (this.#known.get(key) === height) return false;
    this.#known.set(key, height);
    this.#isStale = true;
    return true;
  }

  /** @param {number} place @returns {number} where a row begins; of the last place: the whole height */
  top(place) {
    if (this.#isStale) this.#sum();
    return this.#tops[Math.max(0, Math.min(place, this.#items.length))];
  }

  /** @param {number} y @returns {number} the place of the row at this height */
  at(y) {
    if (this.#isStale) this.#sum();
    let low = 0;
    let high = this.#items.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#tops[middle] <= y) low = middle;
      else high = middle - 1;
    }
    return Math.max(0, low);
  }

  #sum() {
    const items = this.#items;
    if (this.#tops.length <= items.length) this.#tops = new Float64Array(items.length * 2 + 1);
    let sum = 0;
    for (let i = 0; i < items.length; i++) {
      this.#tops[i] = sum;
      sum += this.#known.get(items[i].key) ?? guessed(items[i]);
    }
    this.#tops[items.length] = sum;
    this.#isStale = false;
  }
}
