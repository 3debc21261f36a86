import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql'
import { createSchema } from '../../src/graphql/schema.ts'

/** A path from a root field to objects of one type, e.g. `Query.user/User.posts/Post.author`. */
export interface SchemaPath {
  readonly name: string
  /** The type of the objects at its end. */
  readonly target: string
  /** The selection on the root type. */
  readonly selection: string
}

/** Which paths are wanted, and what they select. */
export interface PathOptions {
  readonly root: 'Query' | 'Mutation'
  /** The types at the ends of paths. */
  readonly targets: readonly string[]
  /**
   * The arguments of a field that requires some, such as `Query.node`, for an object of a type.
   * Undefined: no such path.
   */
  readonly argumentsOf: (field: string, type: string) => string | undefined
  /** The selection on each object at the end of a path. Default: all fields without a list. */
  readonly leaf?: string
  /** The most fields of a path. Default: any number. */
  readonly depthMax?: number
  /** Selects the leaf on each object of the path, not only at its end. */
  readonly everywhere?: boolean
}

interface Step {
  readonly names: readonly string[]
  readonly type: GraphQLObjectType
  readonly around: (inner: string) => string
}

const schema = createSchema()

/** The size of each page on a path. */
const pageSize = 4

/**
 * Every path of the schema to objects of the targets: each field that leads to them, below each
 * field that leads there. So a new field is on a path, or fails for want of arguments.
 */
export function schemaPaths({
  root,
  targets,
  argumentsOf,
  leaf,
  everywhere = false,
  depthMax = Number.POSITIVE_INFINITY,
}: PathOptions): SchemaPath[] {
  const rootType = schema.getType(root)
  if (!isObjectType(rootType)) throw new Error(`the schema has no ${root}`)
  const selectionOn = (type: GraphQLObjectType) => leaf ?? `__typename ${leavesOf(type)}`
  const seen = new Set<string>()
  const paths: SchemaPath[] = []
  const next = ({ names, type, around }: Step): Step[] =>
    Object.values(type.getFields()).flatMap((field) => {
      const name = `${type.name}.${field.name}`
      return targetsOf(getNamedType(field.type)).flatMap((target): Step[] => {
        const key = `${names.at(-1)}/${name}/${target.type.name}`
        if (!leads(target.type, targets) || seen.has(key)) return []
        const given = argumentsFor(field, name, argumentsOf(name, target.type.name))
        if (given === undefined) return []
        seen.add(key)
        const step: Step = {
          names: [...names, target.isAny ? `${name}(${target.type.name})` : name],
          type: target.type,
          around: (inner) => {
            const all = everywhere ? `${selectionOn(target.type)} ${inner}` : inner
            return around(`${field.name}${given} ${target.around(all)}`)
          },
        }
        if (targets.includes(target.type.name)) {
          const end = everywhere ? '' : selectionOn(target.type)
          const selection = step.around(end)
          paths.push({ name: step.names.join('/'), target: target.type.name, selection })
        }
        return [step]
      })
    })
  let front: Step[] = [{ names: [], type: rootType, around: (inner) => inner }]
  for (let depth = 0; front.length > 0 && depth < depthMax; depth++) front = front.flatMap(next)
  return paths
}

function argumentsFor(
  field: GraphQLField<unknown, unknown>,
  name: string,
  given: string | undefined,
): string | undefined {
  const required = field.args.filter(isRequiredArgument).map((argument) => argument.name)
  if (required.length > 0 && given === '') throw new Error(`${name} requires ${required}`)
  if (given !== '') return given
  return field.args.some((argument) => argument.name === 'first') ? `(first: ${pageSize})` : ''
}

interface Target {
  readonly type: GraphQLObjectType
  readonly around: (inner: string) => string
  /** Whether the field also returns objects of other types. */
  readonly isAny: boolean
}

/** The objects of a field: itself, the nodes of its page, or each type of its interface. */
function targetsOf(type: GraphQLNamedType): Target[] {
  if (isInterfaceType(type)) {
    return schema.getPossibleTypes(type).map((one) => ({
      type: one,
      around: (inner) => `{ ... on ${one.name} { ${inner} } }`,
      isAny: true,
    }))
  }
  if (!isObjectType(type)) return []
  const { edges } = type.getFields()
  if (!edges) return [{ type, around: (inner) => `{ ${inner} }`, isAny: false }]
  const edge = getNamedType(edges.type)
  const node = isObjectType(edge) ? getNamedType(edge.getFields().node?.type) : undefined
  if (!isObjectType(node)) return []
  return [{ type: node, around: (inner) => `{ edges { node { ${inner} } } }`, isAny: false }]
}

/** Whether objects of the type are of a target, or have a field that leads to one. */
function leads(type: GraphQLObjectType, targets: readonly string[]): boolean {
  const known = new Set<GraphQLObjectType>()
  const search = (one: GraphQLObjectType): boolean => {
    if (targets.includes(one.name)) return true
    if (known.has(one)) return false
    known.add(one)
    return Object.values(one.getFields()).some((field) =>
      targetsOf(getNamedType(field.type)).some((target) => search(target.type)),
    )
  }
  return search(type)
}

/**
 * All fields of a type that need no argument and lead to no list: scalars, and objects of scalars.
 */
function leavesOf(type: GraphQLObjectType): string {
  return Object.values(type.getFields())
    .flatMap((field) => {
      const inner = getNamedType(field.type)
      if (field.args.length > 0) return []
      if (isLeafType(inner)) return [field.name]
      const isPlain =
        isObjectType(inner) &&
        Object.values(inner.getFields()).every((one) => isLeafType(getNamedType(one.type)))
      return isPlain ? [`${field.name} { ${leavesOf(inner)} }`] : []
    })
    .join(' ')
}
