import tlds from 'tlds' with { type: 'json' }
import { checkedUrl, parseUrl } from '../lib/url.ts'
import { dot, joined, sentence, unspaced } from './characters.ts'
import { isFileName } from './file-names.ts'
import { lengthOfPath } from './link-paths.ts'

/** A part of a text, in UTF-16 code units. `end` is exclusive. */
export interface Part {
  readonly start: number
  readonly end: number
}

/** A part that nothing else may overlap: a link, or a URL that is none. */
export interface AddressPart extends Part {
  readonly isLink: boolean
}

const topLevelDomains: ReadonlySet<string> = new Set(tlds)
/** The most characters of a domain. */
const hostLengthMax = 253

const http = String.raw`[hH][tT][tT][pP][sS]?:\/\/`
/** All that a browser may read as a part of a host, but punctuation that no registry accepts. */
const hostCharacter = String.raw`[[\p{L}\p{M}\p{N}\p{S}\p{Cf}\p{Co}\p{Cn}_\-·・׳״་${dot}]--[$+<=>\^\x60\|~]]`
/** A row of them, up to a URL that begins after a letter of a script without spaces. */
const host = `(?:(?!(?<=[${unspaced}])${http})${hostCharacter})+`

const urls = new RegExp(`(?<!${joined})${http}`, 'gv')
const domains = new RegExp(String.raw`(?<=^|[\p{White_Space}${sentence}<>\|])(?<!:)${host}`, 'gv')
/**
 * Where no word is before a domain but one of a script without spaces, with punctuation after it.
 */
const domainStart = new RegExp(
  String.raw`(?<=(?:^|[\p{White_Space}<>\|])${sentence}*|[${unspaced}]${sentence}+)`,
  'vy',
)
const authority = new RegExp(String.raw`(\[[\da-fA-F:.]+\]|${host})(?::\d{1,5})?`, 'vy')
/** What belongs to the sentence, or to nothing that is seen. */
const hostEnd = new RegExp(String.raw`[${dot}\p{Cf}\p{Variation_Selector}]+$`, 'v')
/** An existing top-level domain, if it is one, right before a letter of a script without spaces. */
const topLevelBefore = new RegExp(String.raw`^([a-zA-Z]+|xn--[\w\-]+)[${unspaced}]`, 'v')

/**
 * Every domain without a scheme has it, and few texts do. A search for domains takes much longer.
 */
const innerDot = /\.\P{White_Space}/u

/** The end of a sentence, or of a part of it, so that no browser would read on. */
const close = new RegExp(String.raw`[${sentence}${dot}]*(?:\p{White_Space}|$)`, 'vy')
/**
 * What may follow a complete domain: "'s", what no host contains, and words in a script without
 * spaces.
 */
const goesOn = new RegExp(
  String.raw`['’]s${close.source}|[<>\^\|]|[${sentence}--:]*(?:[${unspaced}]|${http})`,
  'vy',
)
const pairs = '()[]{}<>«»“”‘’‚‘„“‹›「」『』（）［］｛｝【】〔〕《》〈〉""\'\'``'

/**
 * The links of a text, and the URLs that are none, in order. Linear in its length.
 *
 * A link has the host that a browser reads in the text. Where that is in doubt, the URL is no link
 * to its next space. A domain without a scheme is a link if its top-level domain exists and is in
 * lower case. Without a path, the name of a file is none.
 */
export function findAddresses(text: string): AddressPart[] {
  const parts: AddressPart[] = []
  const endOfLink = ends(text)
  let at = 0
  for (const { index: start, 0: scheme } of text.includes('://') ? text.matchAll(urls) : []) {
    if (start < at) continue
    const link = endOfLink(start, start + scheme.length)
    at = link ?? endOf(/\P{White_Space}*/uy, text, start)
    parts.push({ start, end: at, isLink: link !== undefined })
  }
  const endOfDomain = ends(text)
  const written = innerDot.test(text) ? text.matchAll(domains) : []
  const bare = [...written].flatMap(({ index: start, 0: { length } }) => {
    const end = text.slice(start, start + length).includes('.') ? endOfDomain(start) : undefined
    return end === undefined ? [] : [{ start, end, isLink: true }]
  })
  return [...parts, ...bare.filter(outsideOf(parts))].sort(inOrder)
}

export const inOrder = (a: Part, b: Part): number => a.start - b.start

/** Whether a part overlaps none of others. Call it with parts in order. */
export function outsideOf(others: readonly Part[]): (part: Part) => boolean {
  let at = 0
  return ({ start, end }) => {
    while ((others[at]?.end ?? Infinity) <= start) at++
    return (others[at]?.start ?? Infinity) >= end
  }
}

/**
 * The URL of a link in the form that a browser sends. Undefined if the text is none, or one with a
 * password.
 */
export const urlOf = (written: string): string | undefined =>
  checkedUrl(/^https?:\/\//i.test(written) ? written : `https://${written}`).url

const isPair = (before: string, after: string): boolean =>
  before !== '' && after !== '' && pairs.indexOf(before + after) % 2 === 0

function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return from + (pattern.exec(text)?.[0].length ?? 0)
}

function startsWith(pattern: RegExp, text: string, from: number): boolean {
  pattern.lastIndex = from
  return pattern.test(text)
}

/**
 * Finds the ends of the links of a text, in its order. A link without a scheme has no place for its
 * host.
 */
function ends(text: string): (start: number, hostStart?: number) => number | undefined {
  let userEnd = -1
  /** Whether all before an "@" would be the name of a user. */
  const isUser = (at: number): boolean => {
    if (userEnd < at) userEnd = endOf(/[^\p{White_Space}/?#\\@]*/uy, text, at)
    return text.charAt(userEnd) === '@'
  }
  return (start, hostStart) => {
    const from = hostStart ?? start
    authority.lastIndex = from
    const [whole, name] = authority.exec(text) ?? []
    if (whole === undefined || name === undefined || name.length > hostLengthMax) return undefined
    const next = from + whole.length
    const inPair = isPair(text.charAt(start - 1), text.charAt(next))
    // First, because only a domain at such a place may have a path, which takes time to read.
    if (hostStart === undefined && !inPair && !startsWith(domainStart, text, start))
      return undefined
    const endsHost = /[/?#]/.test(text.charAt(next))
    const pathLength = endsHost ? lengthOfPath(text, next) : 0
    // A question mark may end the sentence.
    const hasPath = pathLength > 0
    const hasPort = whole !== name
    const shown = hasPath || hasPort ? name : withoutParticle(name.replace(hostEnd, ''))
    const isShown = hostStart === undefined ? isDomain(shown) && !hasPort : isHost(shown)
    if (!isShown) return undefined
    const isBare = hostStart === undefined && (!hasPath || text.charAt(next) !== '/')
    if (isBare && isFileName(labelsOf(shown))) return undefined
    const isWhole =
      endsHost ||
      startsWith(close, text, next) ||
      (!isUser(next) && (inPair || (isComplete(shown) && startsWith(goesOn, text, next))))
    if (!isWhole) return undefined
    const end = hasPath ? next + pathLength : from + (hasPort ? whole : shown).length
    return urlOf(text.slice(start, end)) === undefined ? undefined : end
  }
}

/**
 * Without the letters of a script without spaces that follow an existing top-level domain. No
 * domain ends so.
 */
function withoutParticle(name: string): string {
  const label = labelsOf(name).at(-1) ?? ''
  const topLevel = topLevelBefore.exec(label)?.[1] ?? ''
  return isTopLevel(topLevel) ? name.slice(0, topLevel.length - label.length) : name
}

const labelsOf = (name: string): string[] => name.split(new RegExp(`[${dot}]`))
const isTopLevel = (label: string): boolean =>
  topLevelDomains.has(label.toLowerCase()) || /^xn--[\w-]+$/i.test(label)
const isComplete = (name: string): boolean =>
  isTopLevel(labelsOf(name).at(-1) ?? '') || /^[\d.]+$/.test(name)

/** The full stop of a sentence, if the top-level domain after it does not exist. */
const isSentence = new RegExp(`[[${dot}]--\\.]`, 'v')

/**
 * Whether a browser reads a host as it is written, not as a number, or with parts that are encoded
 * or empty.
 */
function isHost(name: string): boolean {
  const read = parseUrl(`http://${name}`)?.hostname
  if (read === undefined) return false
  if (name.startsWith('[')) return true
  const labels = labelsOf(name)
  if (labels.length > 1 && labels.at(-1) === '') labels.pop()
  return (
    (/[^\p{ASCII}]/u.test(name) ? !/^[\d.]+$/.test(read) : read === name.toLowerCase()) &&
    (!isSentence.test(name) || isComplete(name)) &&
    labels.every((label) => /^[^-]+(?:-+[^-]+)*$/.test(label)) &&
    labels.every((label) => legible.test(label) && !slashes.test(label)) &&
    /^[\p{L}\p{M}\p{N}-]+$/u.test(labels.at(-1) ?? '')
  )
}

/**
 * Letters, numbers, emoji and their joiners, and the punctuation that IDNA 2008 allows within
 * words.
 */
const legible = /^(?:[\p{L}\p{M}\p{N}_·・׳״͵-]|\p{Extended_Pictographic}|\u200c|\u200d|\ufe0f)+$/u
/** Letters that look like the slash after a host. */
const slashes = /[\u3033-\u3035]/

const plain = new RegExp(String.raw`^[[\p{L}\p{M}\p{N}_.\-]--[${unspaced}]]+$`, 'v')

/**
 * Whether a text without a scheme is a domain, and not the end of one sentence with the next one.
 */
function isDomain(name: string): boolean {
  const [topLevel = '', ...more] = labelsOf(name).reverse()
  const exists = topLevel === topLevel.toLowerCase() && isTopLevel(topLevel)
  return exists && more.length > 0 && plain.test(name) && isHost(name)
}
