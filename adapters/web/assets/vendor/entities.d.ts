// What the page uses of entities, in types. Written by hand.

/** Return the character that "&name;" means, or the text as it is if it names none. */
export function decodeHTMLStrict(text: string): string;
