/** Values of a form, by paths such as `model_config.temperature`. Pure. */

/** @param {any} values @param {string} path @returns {any} */
export function valueAt(values, path) {
  return path.split(".").reduce((value, key) => value?.[key], values);
}

/**
 * Return the values with another one at a path; `undefined` takes the field out, and with it the
 * objects around it that are then empty.
 * @param {any} values @param {string} path @param {any} value @returns {any}
 */
export function withValue(values, path, value) {
  const [key, ...rest] = path.split(".");
  const inner = rest.length ? withValue(values?.[key] ?? {}, rest.join("."), value) : value;
  const { [key]: _, ...others } = values ?? {};
  const isGone = inner === undefined || (rest.length && isEmpty(inner));
  return isGone ? others : { ...values, [key]: inner };
}

/** @param {any} value */
export function isEmpty(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !Object.keys(value).length;
}

/** Return whether two values say the same. @param {any} one @param {any} other @returns {boolean} */
export function isSame(one, other) {
  return sorted(one) === sorted(other);
}

/** @param {any} value */
function sorted(value) {
  return JSON.stringify(value, (_, each) =>
    each && typeof each === "object" && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

/**
 * Return those top-level fields that differ: what a PATCH has to say.
 * @param {any} saved @param {any} values
 */
export function changes(saved, values) {
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => !isSame(value, saved[name])),
  );
}

/**
 * Return what the server said about a field: of its path itself, or of what is within it.
 * @param {{field: string, detail: string}[]} faults @param {string[]} names
 */
export function faultsOf(faults, names) {
  return faults
    .filter(({ field }) => names.some((name) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`)))
    .map(({ detail }) => detail);
}
