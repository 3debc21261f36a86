import type { FacetDoc } from '../db/collections.ts'
import { parseUserId, type UserId } from '../lib/ids.ts'
import { findAddresses, type Part, unspacedScripts, urlOf } from './links.ts'

/** A mention, hashtag or link in a text. */
export type Facet = FacetDoc

/** The most facets of a text. */
export const facetsMax = 10

/** Marks of words, without those that only choose the form of an emoji. */
const marks = String.raw`[\p{M}--[\ufe0e\ufe0f\u20e3]]`
/** Characters that make one word with a handle beside them. */
const joined = String.raw`[[\p{L}\p{N}_]--[${unspacedScripts}]]|${marks}|[@＠]`

/** An "@" with all characters after it that a handle may have, if no address of e-mail can end there. */
const mention = new RegExp(String.raw`(?<!${joined})[@＠]([a-zA-Z0-9][a-zA-Z0-9_.\-]*)`, 'gv')
const unspacedBefore = new RegExp(`[${unspacedScripts}]$`, 'v')
const joinedAfter = new RegExp(`^(?:${joined}|://)`, 'v')

/** Letters, marks, numbers and underscores, with the joiners that some scripts need between letters. */
const hashtag = new RegExp(
  String.raw`(?<![\p{L}\p{N}_#＃&]|${marks})[#＃]([\p{L}\p{N}_](?:[\p{L}\p{M}\p{N}_]|[\u200c\u200d](?=\p{L}))*)`,
  'gv',
)

/**
 * Finds the first {@link facetsMax} mentions, hashtags and links of a text, in its order. They do not overlap. Pure, and
 * linear in the length of the text.
 *
 * - A link, or an address of e-mail, is found first. Within it, there is no mention and no hashtag.
 * - A mention is an "@" with a handle, in any case. It is longest, and excludes the punctuation after it.
 * - A hashtag is a "#" with letters, numbers and underscores, at least one of them a letter.
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

const inOrder = (a: Part, b: Part): number => a.start - b.start

/** Whether a part overlaps none of others. Call it with parts in order. */
function outsideOf(others: readonly Part[]): (part: Part) => boolean {
  let at = 0
  return ({ start, end }) => {
    while ((others[at]?.end ?? Infinity) <= start) at++
    return (others[at]?.start ?? Infinity) >= end
  }
}

function findMentions(text: string): Facet[] {
  return [...text.matchAll(mention)].flatMap(({ index: start, 1: run = '' }) => {
    const end = start + 1 + lengthOfHandle(run)
    const handle = parseHandle(text.slice(start, end))
    // Without a space before it, a domain is the end of an address of e-mail.
    const isAddress =
      handle?.includes('.') && unspacedBefore.test(text.slice(Math.max(0, start - 2), start))
    const isOne = handle && !isAddress && !joinedAfter.test(text.slice(end, end + 3))
    return isOne ? [{ kind: 'MENTION', start, end }] : []
  })
}

/** Without the punctuation at the end. */
function lengthOfHandle(run: string): number {
  let length = run.length
  while ('_.-'.includes(run.charAt(length - 1))) length--
  return length
}

const findHashtags = (text: string): Facet[] =>
  [...text.matchAll(hashtag)].flatMap(({ 1: tag = '', index: start }) => {
    const end = start + 1 + tag.length
    const isOne = /\p{L}/u.test(tag) && !/[#＃]/.test(text.charAt(end))
    return isOne ? [{ kind: 'HASHTAG', start, end }] : []
  })

const parseHandle = (written: string): UserId | undefined =>
  parseUserId(written.slice(1).toLowerCase())

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
export interface NamedFacet extends Facet {
  /** Of a mention: the handle, in lower case. */
  readonly handle: UserId | null
  /** Of a hashtag: its text after the "#", as it was written. */
  readonly tag: string | null
  /** Of a link: the URL, in the form that a browser sends. */
  readonly url: string | null
}

/**
 * The facets of a text with what they name.
 * @param facets of the text. Undefined for a text that was stored without them.
 */
export function nameFacets(
  text: string,
  facets: readonly Facet[] = findFacets(text),
): NamedFacet[] {
  if (facets.length === 0) return []
  const points = [...text]
  return facets.map(({ kind, start, end }) => {
    const written = points.slice(start, end).join('')
    return {
      ...{ kind, start, end },
      handle: kind === 'MENTION' ? (parseHandle(written) ?? null) : null,
      tag: kind === 'HASHTAG' ? written.slice(1) : null,
      url: kind === 'LINK' ? (urlOf(written) ?? null) : null,
    }
  })
}
