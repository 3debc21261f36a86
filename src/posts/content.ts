import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AttachmentDoc } from '../db/collections.ts'
import {
  checkText,
  checkUrl,
  type GivenOf,
  leafChecks,
  namesOf,
  type ValuesOf,
  valuesOf,
} from '../entities/leaves.ts'
import { postLeaves, textRules } from '../entities/post.ts'
import { badInput, badInputs, checkAll, checkEach, type WrongArgument } from '../errors.ts'
import { isBlank, type TextRules, visibleText } from '../lib/text.ts'
import type { Handles } from '../users/handles.ts'
import { blurhashProblem } from './blurhash.ts'
import { type Facet, findFacets, nameFacets } from './facets.ts'

/** An attachment of a post. */
export type Attachment = AttachmentDoc

/** An attachment as its author gave it. Null is the same as absent. */
export type GivenAttachment = Pick<Attachment, 'url' | 'kind'> & {
  readonly [Field in 'alt' | 'width' | 'height' | 'blurhash']?: Attachment[Field] | null
}

/** The content of a post, as its author wrote it. */
export interface Content extends ValuesOf<typeof postLeaves> {
  readonly attachments: readonly Attachment[]
  /**
   * Of the text. Undefined while validators check the content, and if what is stored cannot be
   * read.
   */
  readonly facets?: readonly Facet[] | undefined
}

/** The content of a post, as a client gives it. */
export type GivenContent = GivenOf<typeof postLeaves> & {
  readonly attachments?: readonly GivenAttachment[] | undefined
}

const textNames = namesOf(postLeaves).filter((name) => postLeaves[name].type === 'text')

/**
 * A problem of a post's content, for its author: of the text, or of the part that `at` names, e.g.
 * `attachments.0.alt`.
 */
export type ContentProblem = string | { readonly at: string; readonly problem: string }

/** One check of a post's content. Returns what is wrong with it, or undefined. */
export type ContentValidator = (content: Content) => ContentProblems | Promise<ContentProblems>
type ContentProblems = ContentProblem | readonly ContentProblem[] | undefined

/** The rules of an alternative text. */
export const altRules: TextRules = { ...textRules, graphemesMax: 2_000, bytesMax: 12_000 }
/** Number of attachments of a post. */
export const attachmentsMax = 4
/** The most pixels of an attachment in one direction: those of the largest JPEG. */
export const pixelsMax = 65_535

/** The checks of every post, in order: the built-in ones, then those of the configuration. */
export function contentValidators(
  blockedWords: readonly string[],
  more: readonly ContentValidator[] = [],
): readonly ContentValidator[] {
  return [
    ({ text, attachments }) =>
      isBlank(text) && attachments.length === 0 ? 'must not be empty' : undefined,
    blockedWordsValidator(blockedWords),
    ...more,
  ]
}

function blockedWordsValidator(blockedWords: readonly string[]): ContentValidator {
  const phrases = blockedWords.map(spelled).filter((phrase) => phrase !== '  ')
  const problem = 'contains a word that is not allowed'
  const isRefused = (text: string) => {
    const words = spelled(text)
    return phrases.some((phrase) => words.includes(phrase))
  }
  return (content) => {
    const texts = [
      ...textNames.map((at) => ({ at, text: content[at] })),
      ...content.attachments.map(({ alt }, at) => ({ at: `attachments.${at}.alt`, text: alt })),
    ]
    return texts.filter((one) => isRefused(one.text ?? '')).map(({ at }) => ({ at, problem }))
  }
}

/**
 * The words of a text between single spaces, without differences that a reader does not see, e.g.
 * case.
 */
function spelled(text: string): string {
  const words = visibleText(text.replace(/\p{Cc}+/gu, ' '))
    .normalize('NFKC')
    .toLowerCase()
    .toUpperCase()
    .split(/[^\p{L}\p{N}\p{M}]+/u)
  return ` ${words.filter((word) => word !== '').join(' ')} `
}

/**
 * Loads further validators: ES modules that export `validate`.
 * @throws Error that names the module and why it cannot be loaded, or that it has no such export.
 */
export async function loadValidators(modules: readonly string[]): Promise<ContentValidator[]> {
  return Promise.all(
    modules.map(async (name) => {
      const at = /^[./]/.test(name) ? pathToFileURL(resolve(name)).href : name
      const loaded = (await import(at).catch((cause: unknown) => {
        throw new Error(`CONTENT_VALIDATORS: cannot load "${name}": ${sentenceOf(cause)}`, {
          cause,
        })
      })) as { validate?: unknown }
      if (typeof loaded.validate !== 'function') {
        throw new Error(`CONTENT_VALIDATORS: "${name}" exports no function "validate"`)
      }
      return loaded.validate as ContentValidator
    }),
  )
}

const sentenceOf = (cause: unknown): string =>
  cause instanceof Error ? cause.message : String(cause)

/**
 * The content in the stored form: text in NFC with its facets, attachments checked.
 * @throws {DomainError} BAD_USER_INPUT with the problems of all fields, or else with those that the
 *   validators find.
 */
export async function checkContent(
  { attachments = [], ...leaves }: GivenContent,
  validators: readonly ContentValidator[],
): Promise<Content> {
  const checked = checkAll({
    ...leafChecks(postLeaves, leaves),
    attachments: () => checkAttachments(attachments),
  })
  const content: Content = { ...valuesOf(postLeaves, checked), attachments: checked.attachments }
  const wrong: WrongArgument[] = []
  for (const validate of validators) {
    for (const found of [(await validate(content)) ?? []].flat()) {
      const { at, problem } = typeof found === 'string' ? { at: 'text', problem: found } : found
      wrong.push({ argument: `input.${at}`, message: problem })
    }
  }
  if (wrong.length > 0) throw badInputs(wrong)
  return { ...content, facets: findFacets(content.text) }
}

/**
 * The content with the accounts that have the mentioned handles now: a later owner of a handle
 * inherits no mention. One command, none without a mention.
 */
export async function resolveMentions(
  content: Content,
  handles: Pick<Handles, 'findHolders'>,
): Promise<Content> {
  const { text, facets = [] } = content
  if (!facets.some(({ kind }) => kind === 'MENTION')) return content
  const named = nameFacets(text, facets).map(({ handle }) => handle)
  const owners = await handles.findHolders([...new Set(named.flatMap((handle) => handle ?? []))])
  const resolved = facets.map((facet, at) => {
    const handle = named[at]
    return handle ? { ...facet, account: owners.get(handle) ?? '' } : facet
  })
  return { ...content, facets: resolved }
}

function checkAttachments(attachments: readonly GivenAttachment[]): Attachment[] {
  if (attachments.length > attachmentsMax) {
    throw badInput('input.attachments', `must contain at most ${attachmentsMax} attachments`)
  }
  return checkEach(attachments, (attachment, at) =>
    checkAttachment(`input.attachments.${at}`, attachment),
  )
}

function checkAttachment(argument: string, attachment: GivenAttachment): Attachment {
  const { kind, alt, width, height, blurhash } = attachment
  const { url, ...more } = checkAll({
    url: () => checkUrl(`${argument}.url`, attachment.url),
    ...(alt != null && { alt: () => checkText(`${argument}.alt`, alt, altRules) }),
    ...(width != null && { width: () => checkPixels(`${argument}.width`, width) }),
    ...(height != null && { height: () => checkPixels(`${argument}.height`, height) }),
    ...(blurhash != null && { blurhash: () => checkBlurhash(`${argument}.blurhash`, blurhash) }),
  })
  return { url, kind, ...more }
}

function checkPixels(argument: string, given: number): number {
  if (Number.isInteger(given) && given >= 1 && given <= pixelsMax) return given
  throw badInput(argument, `must be 1 to ${pixelsMax} pixels`)
}

function checkBlurhash(argument: string, hash: string): string {
  const problem = blurhashProblem(hash)
  if (problem) throw badInput(argument, problem)
  return hash
}
