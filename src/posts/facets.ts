import type { FacetDoc } from '../db/collections.ts'
import { type Handle, parseHandle, type UserId } from '../lib/ids.ts'
import { joined, unspaced } from './characters.ts'
import { findAddresses, inOrder, outsideOf, urlOf } from './links.ts'

/** A mention, hashtag or link in a text. */
export type Facet = FacetDoc

/** The most facets of a text. */
export const facetsMax = 10

/**
 * An "@" with all characters after it that a handle may have, if no address of e-mail can end
 * there.
 */
const mention = new RegExp(String.raw`(?<!${joined}|[@＠])[@＠]([a-zA-Z0-9][a-zA-Z0-9_.\-]*)`, 'gv')
const unspacedBefore = new RegExp(`[${unspaced}]$`, 'v')
const joinedAfter = new RegExp(String.raw`^(?:${joined}|[@＠]|:\/\/)`, 'v')

/**
 * Punctuation, joiners and separators that words of some languages have between letters, not at an
 * end.
 */
const inside = String.raw`·・･゠～〜־\u200c\u200d\u180e`
/** Punctuation that belongs to the word before it: of Hebrew, Tibetan, Japanese and Cyrillic. */
const appended = `׳״་༌〃゛゜ꙿ`
const hashtag = new RegExp(
  String.raw`(?<![${joined}[${unspaced}]#＃&])[#＃]([\p{L}\p{N}\p{Pc}](?:[\p{L}\p{M}\p{N}\p{Pc}${appended}]|[${inside}](?=[\p{L}\p{M}\p{N}\p{Pc}]))*)`,
  'gv',
)

/**
 * Finds the first {@link facetsMax} mentions, hashtags and links of a text, in its order. They do
 * not overlap. Pure, and linear in the length of the text.
 *
 * - A link, or an address of e-mail, is found first. Within it, there is no mention and no hashtag.
 * - A mention is an "@" with a handle, in any case. It is longest, and excludes the punctuation
 *   after it.
 * - A hashtag is a "#" with letters, marks, numbers, underscores and their like, at least one of
 *   them a letter.
 *
 * @param text in its stored form.
 */
export function findFacets(text: string): Facet[] {
  if (!/[@＠#＃.]|:\/\//.test(text)) return []
  const addresses = findAddresses(text)
  const links = addresses.filter(({ isLink }) => isLink)
  const words = [...findMentions(text), ...findHashtags(text)]
  const apart = words
    .sort(inOrder)
    .filter(outsideOf(addresses))
    .concat(links.map(({ start, end }) => ({ kind: 'LINK', start, end })))
  return inCodePoints(text, apart.sort(inOrder).slice(0, facetsMax))
}

function findMentions(text: string): Facet[] {
  return [...text.matchAll(mention)].flatMap(({ index: start, 1: run = '' }) => {
    const handle = writtenHandle(run)
    const end = start + 1 + handle.length
    // Without a space before it, a domain is the end of an address of e-mail.
    const isAddress =
      /[^.]\.[^.]/.test(run) && unspacedBefore.test(text.slice(Math.max(0, start - 2), start))
    const isOne =
      handleOf(`@${handle}`) && !isAddress && !joinedAfter.test(text.slice(end, end + 3))
    return isOne ? [{ kind: 'MENTION', start, end }] : []
  })
}

/**
 * Two separators in a row, such as an ellipsis or a dash. No handle that a person would write has
 * them.
 */
const separators = /[.-]{2}/
const handleLengthMax = 64

/**
 * The longest beginning of a run that is a handle before punctuation. Empty, if it is too long and
 * has no punctuation.
 */
function writtenHandle(run: string): string {
  let handle = run.split(separators, 1)[0] ?? ''
  // "@bob.Thanks" begins a sentence. "@Bob.Lee" does not.
  if (!/^[^a-z.]*[A-Z]/.test(handle)) handle = handle.split(/\.(?=[A-Z])/, 1)[0] ?? ''
  if (handle.length > handleLengthMax) {
    const cuts = ['.', '-'].map((separator) => handle.lastIndexOf(separator, handleLengthMax))
    handle = handle.slice(0, Math.max(0, ...cuts))
  }
  return handle.replace(/[_.-]+$/, '')
}

const findHashtags = (text: string): Facet[] =>
  [...text.matchAll(hashtag)].flatMap(({ 1: tag = '', index: start }) => {
    const end = start + 1 + tag.length
    const isOne = /\p{L}/u.test(tag) && !/[#＃]/.test(text.charAt(end))
    return isOne ? [{ kind: 'HASHTAG', start, end }] : []
  })

/** The handle of a written mention. */
const handleOf = (written: string): Handle | undefined =>
  parseHandle(written.slice(1).toLowerCase())

/** Parts in UTF-16 code units, in order, as parts in code points. */
function inCodePoints(text: string, parts: readonly Facet[]): Facet[] {
  let [unit, point] = [0, 0]
  const pointAt = (to: number): number => {
    for (; unit < to; point++) unit += (text.codePointAt(unit) as number) > 0xffff ? 2 : 1
    return point
  }
  return parts.map(({ kind, start, end }) => ({ kind, start: pointAt(start), end: pointAt(end) }))
}

/** A facet with what it names. */
export interface NamedFacet extends Omit<Facet, 'account'> {
  /** Of a mention: the handle as it was written, in lower case. */
  readonly handle: Handle | null
  /** Of a mention: the account that had the handle when the text was written. */
  readonly mentioned: UserId | null
  /** Of a hashtag: its text after the "#", as it was written. */
  readonly tag: string | null
  /** Of a link: the URL, in the form that a browser sends. */
  readonly url: string | null
}

/**
 * The facets of a text with what they name.
 * @param facets of the text. Undefined if what is stored cannot be read: they are found in the
 *   text, and name no accounts.
 */
export function nameFacets(
  text: string,
  facets: readonly Facet[] = findFacets(text),
): NamedFacet[] {
  if (facets.length === 0) return []
  const points = [...text]
  return facets.map(({ kind, start, end, account }) => {
    const written = points.slice(start, end).join('')
    const handle = kind === 'MENTION' ? (handleOf(written) ?? null) : null
    return {
      kind,
      start,
      end,
      handle,
      mentioned: handle && ((account || null) as UserId | null),
      tag: kind === 'HASHTAG' ? written.slice(1) : null,
      url: kind === 'LINK' ? (urlOf(written) ?? null) : null,
    }
  })
}
