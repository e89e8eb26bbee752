// Characters that nobody sees and a model reads: counted before a message is sent.

const INVISIBLE = /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
const LONELY_JOINER = /(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f\p{L}\p{M}])\u200d|\u200d(?![\p{Extended_Pictographic}\p{L}\u2640\u2642\u2695])/gu;

/**
 * Return how many invisible characters a text has. Joiners inside emoji and words are not counted.
 * @param {string} text
 */
export function countInvisible(text) {
  return (text.match(INVISIBLE)?.length ?? 0) + (text.match(LONELY_JOINER)?.length ?? 0);
}

/** Return the text without them. @param {string} text */
export const withoutInvisible = (text) => text.replace(INVISIBLE, "").replace(LONELY_JOINER, "");
