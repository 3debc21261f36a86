import { LinkifyIt } from 'linkify-it'
import tlds from 'tlds' with { type: 'json' }
import { checkedUrl } from '../lib/url.ts'

/** A part of a text, in UTF-16 code units. `end` is exclusive. */
export interface Part {
  readonly start: number
  readonly end: number
}

/** A part that nothing else may overlap: a link, or an address that is none, such as one of e-mail. */
export interface AddressPart extends Part {
  readonly isLink: boolean
}

/** Finds URLs with `http://` or `https://`, domains without them, and addresses of e-mail. */
const linkify = new LinkifyIt({ fuzzyLink: true, fuzzyEmail: true, urlAuth: true, tlds })
  .add('ftp:')
  .add('//')

/** The scripts that write words without spaces, or append particles to them, as the inside of a class of characters. */
export const unspacedScripts = [
  ...['Han', 'Hiragana', 'Katakana', 'Bopomofo', 'Hangul'],
  ...['Thai', 'Lao', 'Khmer', 'Myanmar', 'Tibetan'],
]
  .map((script) => String.raw`\p{Script_Extensions=${script}}`)
  .join('')

/** Characters that end an address, and that one may follow: of such scripts, emoji, and invisible characters. */
const outside = new RegExp(
  String.raw`[${unspacedScripts}\p{Extended_Pictographic}\p{Regional_Indicator}\p{Emoji_Modifier}\p{Cf}\p{Variation_Selector}]`,
  'gu',
)

/** Punctuation at the end of a URL that belongs to the sentence around it. */
const trailing = '.,:;!?*~@&\'"\\'

/**
 * The links and other addresses of a text, in order. Linear in its length.
 *
 * A domain without a scheme is a link if its top-level domain exists and is in lower case, and no "#" precedes it.
 */
export function findAddresses(text: string): AddressPart[] {
  const plain = text.replace(outside, (characters) => ' '.repeat(characters.length))
  const found = linkify.match(plain) ?? []
  return found.flatMap(({ schema, index: start, lastIndex }) => {
    if (schema === 'mailto:') return [{ start, end: lastIndex, isLink: false }]
    const end = withoutTrailing(text, lastIndex)
    const written = text.slice(start, end)
    if (schema === '' && !isDomain(written, text.charAt(start - 1))) return []
    return [{ start, end, isLink: urlOf(written) !== undefined }]
  })
}

/** The URL of a link in the form that a browser sends. Undefined if the text is none, or one with a password. */
export const urlOf = (written: string): string | undefined =>
  checkedUrl(/^https?:\/\//i.test(written) ? written : `https://${written}`).url

function withoutTrailing(text: string, from: number): number {
  let end = from
  while (trailing.includes(text.charAt(end - 1))) end--
  return end
}

function isDomain(written: string, before: string): boolean {
  const topLevel = /^[^/?#:]*\.([^/?#:.]+)/.exec(written)?.[1] ?? ''
  return before !== '#' && before !== '＃' && topLevel === topLevel.toLowerCase()
}
