import { urlLengthMax } from '../lib/url.ts'
import { dot, sentence, unspaced } from './characters.ts'

/**
 * What ends a path: spaces, invisible characters, quotes, and punctuation of sentences but that of
 * ASCII.
 */
const ends = String.raw`\p{Z}\p{C}<>"\x60\\…‥[${sentence}--\p{ASCII}][[${dot}]--\p{ASCII}]`
const any = `[^${ends}]`
/** What separates the words of a path. */
const delimiter = String.raw`[[\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e]--[${ends}]]`
/** Characters that a text without spaces may put right after a word. */
const wide = String.raw`[${unspaced}\p{Extended_Pictographic}\p{Regional_Indicator}\p{Emoji_Modifier}]`

/**
 * A path, query and fragment. A wide character belongs to it as the beginning of a word, as in
 * `/wiki/日本`, but not right after another word, or as the first one after the host, where the text
 * goes on.
 */
const path = new RegExp(
  [
    `^[\\/?#](?:(?!${wide})(?:${delimiter}`,
    `(?<=${delimiter})${wide}[${any}--${delimiter}]*`,
    `[${any}--${delimiter}--${wide}]`,
    String.raw`[\u200c\u200d](?=[\p{L}\p{M}]))*)?`,
  ].join('|'),
  'v',
)

const brackets = '()[]{}'
/** Punctuation at the end that belongs to the sentence around it. */
const trailing = /[.,:;!?*~@&'\\]|[^\P{P}\p{ASCII}]/u

/**
 * The length of the path, query and fragment at a place of a text, without what belongs to the
 * sentence around it.
 */
export function lengthOfPath(text: string, from: number): number {
  // No link is longer than this.
  const written = path.exec(text.slice(from, from + urlLengthMax + 1))?.[0] ?? ''
  let length = lengthOfBalanced(written)
  while (trailing.test(written.charAt(length - 1))) length--
  return length
}

/** Up to the first bracket that has no partner. */
function lengthOfBalanced(written: string): number {
  const open: number[] = []
  for (let at = 0; at < written.length; at++) {
    const kind = brackets.indexOf(written.charAt(at))
    if (kind < 0) continue
    if (kind % 2 === 0) open.push(at)
    else if (written[open.pop() ?? -1] !== brackets[kind - 1]) return open[0] ?? at
  }
  return open[0] ?? written.length
}
