/** The scripts that write words without spaces, or append particles to them. */
const unspacedScripts = [
  ...['Han', 'Hiragana', 'Katakana', 'Bopomofo', 'Hangul'],
  ...['Thai', 'Lao', 'Khmer', 'Myanmar', 'Tibetan'],
]
const ofThem = (property: string): string =>
  unspacedScripts.map((script) => String.raw`\p{${property}=${script}}`).join('')

/** Letters and marks of these scripts, as the inside of a class of characters. */
export const unspaced = String.raw`[\p{L}&&[${ofThem('Script_Extensions')}]][\p{M}&&[${ofThem('Script')}]]`

/**
 * What makes one word with a letter beside it: letters but those, numbers, and marks but those of
 * an emoji.
 */
export const joined = String.raw`[[\p{L}\p{M}\p{N}\p{Pc}]--[${unspaced}\ufe0e\ufe0f\u20e3]]`

/** What a browser reads as the dot of a host. */
export const dot = String.raw`.\u3002\uff0e\uff61`

/** Punctuation around words and at the end of a sentence or a part of it, but a {@link dot}. */
export const sentence = String.raw`[[!"'\(\)*,:;?\[\]\{\}\x60~…‥\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Term}\p{STerm}]--[${dot}]]`
