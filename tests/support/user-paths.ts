import {
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isInterfaceType,
  isObjectType,
} from 'graphql'
import { userNodeId } from '../../src/graphql/node-id.ts'
import { createSchema } from '../../src/graphql/schema.ts'
import type { UserId } from '../../src/lib/ids.ts'

/** A path from Query to users, e.g. `Query.user/User.posts/Post.author`. */
export interface UserPath {
  readonly name: string
  readonly query: string
}

interface Step {
  readonly names: readonly string[]
  readonly type: GraphQLObjectType
  readonly around: (inner: string) => string
}

/**
 * Every path of the schema from a user to users: each field with users, below each field that leads to it.
 * @param leaf the selection on each user.
 */
export function userPaths(from: UserId, leaf: string): UserPath[] {
  const schema = createSchema()
  const query = schema.getQueryType()
  const user = schema.getType('User')
  if (!query || !isObjectType(user)) throw new Error('the schema has no Query or no User')
  const required: Readonly<Record<string, string>> = {
    'Query.user': `(handle: "${from}")`,
    'Query.node': `(id: "${userNodeId(from)}")`,
    'Query.nodes': `(ids: ["${userNodeId(from)}"])`,
  }
  const seen = new Set<string>()
  const paths: UserPath[] = []
  const next = ({ names, type, around }: Step): Step[] =>
    Object.values(type.getFields()).flatMap((field) => {
      const name = `${type.name}.${field.name}`
      const target = targetOf(getNamedType(field.type), user)
      const key = `${names.at(-1)}/${name}`
      if (!target || seen.has(key)) return []
      seen.add(key)
      const paged = field.args.some((arg) => arg.name === 'first')
      const head = `${field.name}${required[name] ?? (paged ? '(first: 3)' : '')}`
      const step: Step = {
        names: [...names, name],
        type: target.type,
        around: (inner) => around(`${head} ${target.around(inner)}`),
      }
      if (target.type === user) paths.push({ name: step.names.join('/'), query: step.around(leaf) })
      return [step]
    })
  let front: Step[] = [{ names: [], type: query, around: (inner) => `{ ${inner} }` }]
  while (front.length > 0) front = front.flatMap(next)
  return paths
}

/** The target of a field: an object, the nodes of a page, or a user as a Node. */
function targetOf(
  type: GraphQLNamedType,
  user: GraphQLObjectType,
): Pick<Step, 'type' | 'around'> | undefined {
  if (isInterfaceType(type))
    return { type: user, around: (inner) => `{ ... on User { ${inner} } }` }
  if (!isObjectType(type)) return undefined
  const { edges } = type.getFields()
  if (!edges) return { type, around: (inner) => `{ ${inner} }` }
  const edge = getNamedType(edges.type)
  const node = isObjectType(edge) ? getNamedType(edge.getFields().node?.type) : undefined
  return isObjectType(node)
    ? { type: node, around: (inner) => `{ edges { node { ${inner} } } }` }
    : undefined
}
