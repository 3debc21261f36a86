import { randomUUID } from 'node:crypto'
import { countFields, type EngagementKind, viewerFields } from '../engagement/kinds.ts'
import type { EngagementSummary } from '../engagement/summaries.ts'
import type { PostId, PostRef } from '../lib/ids.ts'
import { soundCount } from '../posts/post.ts'

/** A field of a post in an answer whose value has no version, so that it is read for each answer. */
export interface Hole {
  /** The response keys and list positions from the data of the answer. */
  readonly path: readonly (string | number)[]
  readonly post: PostRef
  /** The name of the field of Post. */
  readonly field: string
}

/** Undefined if the value was not read. */
type Value = (summary: EngagementSummary) => string | undefined

/** The values of the fields that may be holes, as JSON. */
const values: ReadonlyMap<string, Value> = new Map<string, Value>([
  ...[...countFields].map(([field, kind]): [string, Value] => [
    field,
    ({ counts }) => String(soundCount(counts[kind])),
  ]),
  ...[...viewerFields].map(([field, kind]): [string, Value] => [
    field,
    ({ viewerHas }) => {
      const kinds: ReadonlySet<EngagementKind> | undefined = viewerHas
      return kinds && String(kinds.has(kind))
    },
  ]),
])

/** The fields of Post that may be holes. */
export const holeFields: readonly string[] = [...values.keys()]

/** A rendered answer with holes. */
export interface AnswerTemplate {
  /** The text before, between and after the holes. */
  readonly pieces: readonly string[]
  readonly holes: readonly Pick<Hole, 'post' | 'field'>[]
  /** The posts of the holes, each once. */
  readonly posts: readonly PostRef[]
  /** Whether a hole depends on the viewer's own entries. */
  readonly needsViewer: boolean
}

/** What stands for a hole while a template is made. No client knows it. */
const mark = randomUUID()
const marks = new RegExp(`"${mark}:(\\d+)"`)

/**
 * Takes the values of the holes out of a rendered answer.
 * @returns undefined if a hole has no value, such as a field of a deleted post.
 */
export function templateOf(body: string, holes: readonly Hole[]): AnswerTemplate | undefined {
  if (holes.length === 0) return { pieces: [body], holes: [], posts: [], needsViewer: false }
  const answer = JSON.parse(body) as { readonly data: unknown }
  const values: string[] = []
  for (const [at, { path }] of holes.entries()) {
    const parent = objectAt(answer.data, path.slice(0, -1))
    const key = String(path.at(-1))
    const value = parent?.[key]
    if (typeof value !== 'number' && typeof value !== 'boolean') return undefined
    values.push(String(value))
    ;(parent as Record<string, unknown>)[key] = `${mark}:${at}`
  }
  const end = body.endsWith('\n') ? '\n' : ''
  const parts = `${JSON.stringify(answer)}${end}`.split(marks)
  const order = parts.flatMap((part, at) => (at % 2 === 1 ? [Number(part)] : []))
  const pieces = parts.filter((_, at) => at % 2 === 0)
  // Otherwise the answer was not rendered as JSON.stringify does.
  if (
    join(
      pieces,
      order.map((at) => values[at] ?? ''),
    ) !== body
  )
    return undefined
  return templateFrom(
    pieces,
    order.flatMap((at) => holes[at] ?? []),
  )
}

/** A template of pieces with a hole between each two. */
export const templateFrom = (
  pieces: readonly string[],
  holes: AnswerTemplate['holes'],
): AnswerTemplate => ({
  pieces,
  holes: holes.map(({ post, field }) => ({ post, field })),
  posts: [...new Map(holes.map(({ post }) => [post.id, post])).values()],
  needsViewer: holes.some(({ field }) => viewerFields.has(field)),
})

/** The answer with current values. @returns undefined if a post has no summary, because it was deleted. */
export function fillTemplate(
  { pieces, holes }: AnswerTemplate,
  summaries: ReadonlyMap<PostId, EngagementSummary>,
): string | undefined {
  const texts: string[] = []
  for (const { post, field } of holes) {
    const summary = summaries.get(post.id)
    const value = summary && values.get(field)?.(summary)
    if (value === undefined) return undefined
    texts.push(value)
  }
  return join(pieces, texts)
}

function join(pieces: readonly string[], texts: readonly string[]): string {
  let joined = pieces[0] ?? ''
  for (const [at, text] of texts.entries()) joined += text + pieces[at + 1]
  return joined
}

/** The object or list at a path. Undefined if there is none. */
function objectAt(
  from: unknown,
  path: readonly (string | number)[],
): Record<string, unknown> | undefined {
  let here = from
  for (const key of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined
    here = (here as Record<string, unknown>)[key]
  }
  return typeof here === 'object' && here !== null ? (here as Record<string, unknown>) : undefined
}

/** An estimate of the bytes of a template in memory. */
export const bytesOfTemplate = ({ pieces, holes, posts }: AnswerTemplate): number =>
  pieces.reduce((sum, piece) => sum + 2 * piece.length + 50, 0) +
  80 * holes.length +
  200 * posts.length
