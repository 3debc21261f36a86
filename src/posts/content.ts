import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AttachmentDoc } from '../db/collections.ts'
import { badInput } from '../errors.ts'
import { lengthProblem, normalise, unicodeProblem } from '../lib/text.ts'

/** Something shown with a post. */
export type Attachment = AttachmentDoc

/** What an author writes. */
export interface Content {
  readonly text: string
  readonly attachments: readonly Attachment[]
}

/** One check of a post's content: what is wrong, in words for the author, or undefined. */
export type ContentValidator = (
  content: Content,
) => string | undefined | Promise<string | undefined>

const limits = { graphemesMax: 300, bytesMax: 3000 }
const attachmentsMax = 4

const words = (text: string): string[] =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .split(/[^\p{L}\p{N}\p{M}]+/u)

/** The checks every post passes; those of the configuration come after. */
export function contentValidators(
  blockedWords: readonly string[],
  more: readonly ContentValidator[] = [],
): readonly ContentValidator[] {
  const blocked = new Set(blockedWords.map((word) => word.normalize('NFKC').toLowerCase()))
  return [
    ({ text }) => unicodeProblem(text),
    ({ text }) => lengthProblem(text, limits),
    ({ text, attachments }) =>
      text.trim() === '' && attachments.length === 0 ? 'must not be empty' : undefined,
    ({ text }) =>
      words(text).some((word) => blocked.has(word))
        ? 'holds a word that is not allowed here'
        : undefined,
    ...more,
  ]
}

/**
 * Loads further validators: ES modules that export `validate`.
 * @throws Error naming the module that cannot be loaded or has no such export.
 */
export async function loadValidators(modules: readonly string[]): Promise<ContentValidator[]> {
  return Promise.all(
    modules.map(async (name) => {
      const at = /^[./]/.test(name) ? pathToFileURL(resolve(name)).href : name
      const loaded = (await import(at).catch((cause: unknown) => {
        throw new Error(`CONTENT_VALIDATORS: cannot load "${name}"`, { cause })
      })) as { validate?: unknown }
      if (typeof loaded.validate !== 'function') {
        throw new Error(`CONTENT_VALIDATORS: "${name}" exports no function "validate"`)
      }
      return loaded.validate as ContentValidator
    }),
  )
}

/**
 * The content as it is stored: text in NFC, attachments checked.
 * @throws {DomainError} BAD_USER_INPUT with the first problem found.
 */
export async function checkContent(
  given: { readonly text: string; readonly attachments?: readonly Attachment[] | undefined },
  validators: readonly ContentValidator[],
): Promise<Content> {
  // Measured before it is normalised: composing megabytes is work that nobody asked for.
  const tooLong = lengthProblem(given.text, { ...limits, graphemesMax: limits.bytesMax })
  if (tooLong) throw badInput('input.text', tooLong)
  const content: Content = {
    text: normalise(given.text),
    attachments: checkAttachments(given.attachments ?? []),
  }
  for (const validate of validators) {
    const problem = await validate(content)
    if (problem) throw badInput('input.text', problem)
  }
  return content
}

function checkAttachments(given: readonly Attachment[]): Attachment[] {
  if (given.length > attachmentsMax) {
    throw badInput('input.attachments', `must hold at most ${attachmentsMax}`)
  }
  return given.map(({ url, kind, alt }, at) => {
    const problem = urlProblem(url)
    if (problem) throw badInput(`input.attachments.${at}.url`, problem)
    if (alt === undefined || alt === null) return { url, kind }
    const altProblem =
      unicodeProblem(alt) ?? lengthProblem(alt, { graphemesMax: 1000, bytesMax: 5000 })
    if (altProblem) throw badInput(`input.attachments.${at}.alt`, altProblem)
    return { url, kind, alt: normalise(alt) }
  })
}

function urlProblem(url: string): string | undefined {
  if (url.length > 2048) return 'must be at most 2048 characters'
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  return parsed?.protocol === 'https:' || parsed?.protocol === 'http:'
    ? undefined
    : 'must be an http or https URL'
}
