// What the page uses of markdown-it, in types. Written by hand.

/** How named characters are read: `decode` knows all, where it is there; `missed` hears of unknown names. */
export const characters: { decode: ((text: string) => string) | null; missed: () => void };

export default class MarkdownIt {
  constructor(options?: { html?: boolean; linkify?: boolean; breaks?: boolean; typographer?: boolean });
  linkify: { set(options: { fuzzyLink?: boolean; fuzzyEmail?: boolean; fuzzyIP?: boolean }): void };
  utils: { unescapeAll(text: string): string };
  validateLink: (address: string) => boolean;
  parse(text: string, env: object): any[];
}
