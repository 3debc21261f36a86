import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FragmentDefinitionNode, Kind, parse, print, visit } from 'graphql'
import type { PostId } from '../../src/lib/ids.ts'
import { pollCursors } from '../../src/timeline/api/poll-cursors.ts'
import { startingAt } from '../../src/timeline/pages/poll-cursor.ts'

/**
 * The first page with names, pictures, counts and the viewer's flags. The rival takes the same
 * document.
 */
export const page = `query Page($first: Int!) {
  timeline(first: $first) {
    edges { node { id text createdAt author { handle name avatarUrl } likeCount viewerHasLiked } cursor }
    pageInfo { hasNextPage endCursor }
  }
}`

/**
 * How a client polls Feedline: an operation of schema/operations, and its variables for the newest
 * post. A client with conditional requests sends the same by GET with `If-None-Match`.
 */
export const pollOperation = {
  name: 'TimelineNews',
  variables: (newest: string) => ({ since: pollCursors.encode(startingAt(newest as PostId)) }),
} as const

/** An operation of schema/operations with its fragments. @throws if there is no such operation. */
export function readOperation(name: string): string {
  const folder = join(import.meta.dirname, '../../schema/operations')
  const definitions = readdirSync(folder).flatMap(
    (file) => parse(readFileSync(join(folder, file), 'utf8')).definitions,
  )
  const operation = definitions.find(
    (definition) =>
      definition.kind === Kind.OPERATION_DEFINITION && definition.name?.value === name,
  )
  if (!operation) throw new Error(`schema/operations has no operation ${name}`)
  const fragments = new Map(
    definitions
      .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  )
  const used = new Set<FragmentDefinitionNode>()
  const collectFragments = (node: Parameters<typeof visit>[0]): unknown =>
    visit(node, {
      FragmentSpread: ({ name }) => {
        const fragment = fragments.get(name.value)
        if (!fragment || used.has(fragment)) return
        used.add(fragment)
        collectFragments(fragment)
      },
    })
  collectFragments(operation)
  return [operation, ...used].map(print).join('\n')
}
