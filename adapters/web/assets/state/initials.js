/** The initials of a person's name, two at most. Pure. @param {string} name */
export const initials = (name) =>
  name
    .split(/\s+/, 2)
    .map((word) => [...word][0] ?? "")
    .join("")
    .toUpperCase();
