import { postNodeId } from '../../src/graphql/node-id.ts'
import { chunks } from '../../src/lib/batch.ts'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import { pollCursors } from '../../src/timeline/api/poll-cursors.ts'
import { startingAt } from '../../src/timeline/pages/poll-cursor.ts'
import type { TestApp } from './app.ts'
import { type BlockedWorld, hiddenTypes } from './blocked-world.ts'
import { mutationArguments } from './mutation-arguments.ts'
import { type SchemaPath, schemaPaths } from './schema-paths.ts'

const oldest = '0'.repeat(24) as PostId

/**
 * Every path of Query. Those through ids and handles begin at `user`, or at the engagement of
 * `actor` with user's post.
 */
export function queryPaths(world: BlockedWorld, user: UserId, actor: UserId): SchemaPath[] {
  const argumentsOf = (field: string, type: string) => {
    if (field === 'Query.user') return `(handle: "${user}")`
    if (field === 'Query.node' || field === 'Query.post')
      return `(id: "${world.idOf(type, user, actor)}")`
    if (field === 'Query.timelineNews')
      return `(since: "${pollCursors.encode(startingAt(oldest))}")`
    if (field === 'Query.nodes') return `(ids: ["${world.idOf(type, user, actor)}"])`
    return ''
  }
  return schemaPaths({ root: 'Query', targets: hiddenTypes, argumentsOf, everywhere: true })
}

/** How {@link mutationPaths} differ. */
interface MutationOptions {
  /** The prefix of the clientMutationIds. Default: no mutation has one. */
  readonly id?: string | undefined
  /** The comment that is removed. Default: that of the viewer. */
  readonly commentId?: string | undefined
  /** The names of further mutations that are left out. */
  readonly without?: RegExp
}

/** Every path of Mutation, of a viewer on another user, the user's post and a comment under it. */
export function mutationPaths(
  world: BlockedWorld,
  viewer: UserId,
  other: UserId,
  { id, commentId = world.idOf('Comment', other, viewer), without }: MutationOptions = {},
): SchemaPath[] {
  const values = {
    user: { handle: other },
    users: [{ handle: other }],
    postId: postNodeId(world.postOf(other)),
    commentId,
    ...{ text: world.textBy(viewer), name: `name of ${viewer}`, groups: ['close'] },
  }
  const argumentsOf = (field: string) => {
    const [type, mutation = ''] = field.split('.')
    // Below the viewer, the fields are those of queries. One of the payloads is enough.
    if (mutation === 'viewer' && type !== 'BlockUserPayload') return undefined
    if (type !== 'Mutation') return ''
    // The viewer keeps the account and the post, and is no server. The paths of their payloads are
    // those of other mutations.
    if (/^(create|delete)User|^createUsers$|^deletePost$/.test(mutation)) return undefined
    if (without?.test(mutation)) return undefined
    return mutationArguments(mutation, { ...values, clientMutationId: id && `${id} ${mutation}` })
  }
  // Below the lists of a payload, the fields are those of queries.
  const options = { targets: hiddenTypes, argumentsOf, everywhere: true, depthMax: 3 }
  return schemaPaths({ root: 'Mutation', ...options })
}

/** The root field of a path. */
export const rootOf = ({ selection }: SchemaPath) => /^\w+/.exec(selection)?.[0] ?? ''

/** The answer to a path: its data under the name of its root field, and the codes of its errors. */
export interface ReadPath {
  readonly path: SchemaPath
  readonly data: Record<string, unknown>
  readonly codes: readonly string[]
}

/**
 * The answers to several paths. Five paths are one request, or each its own if five of them are too
 * expensive.
 * @param as undefined for an anonymous client.
 */
export async function readPaths(
  app: Pick<TestApp, 'send'>,
  as: UserId | undefined,
  operation: 'query' | 'mutation',
  paths: readonly SchemaPath[],
): Promise<ReadPath[]> {
  const found: ReadPath[] = []
  for (const some of chunks(paths, 5)) {
    const read = await readTogether(app, as, operation, some)
    const isRefused = read.every(({ codes }) => codes.includes('LIMIT_EXCEEDED'))
    if (!isRefused) found.push(...read)
    else for (const path of some) found.push(...(await readTogether(app, as, operation, [path])))
  }
  return found
}

async function readTogether(
  { send }: Pick<TestApp, 'send'>,
  as: UserId | undefined,
  operation: 'query' | 'mutation',
  paths: readonly SchemaPath[],
): Promise<ReadPath[]> {
  const query = `${operation} { ${paths.map(({ selection }, at) => `p${at}: ${selection}`).join(' ')} }`
  const { data, errors } = await send({ as, query })
  return paths.map((path, at) => {
    const own = errors.filter((error) => !error.path || error.path[0] === `p${at}`)
    const codes = own.map(({ extensions }) => extensions.code)
    return { path, data: { [rootOf(path)]: data?.[`p${at}`] }, codes }
  })
}
