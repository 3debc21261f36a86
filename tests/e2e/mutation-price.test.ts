import {
  type GraphQLObjectType,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql'
import { expect, test } from 'vitest'
import { commandPrice } from '../../src/graphql/prices.ts'
import { createSchema } from '../../src/graphql/schema.ts'
import { knowViewers, useApp, withLimits } from '../support/app.ts'
import { labelsOf } from '../support/commands.ts'
import { recorded } from '../support/mongo.ts'
import { type MutationName, mutationCases, newPair } from '../support/mutation-cases.ts'
import { share } from '../support/repetition.ts'

const app = useApp({}, withLimits({ threshold: 1, capacity: 1_000 }))
const prepared = mutationCases(app)
const schema = createSchema()
const mutations = Object.values(schema.getMutationType()?.getFields() ?? {}).filter(
  ({ name }) => name !== 'createUsers',
)

/** Every field of a type, without lists below the depth. */
function everything(type: GraphQLObjectType, depth: number): string {
  const fields = Object.values(type.getFields()).flatMap((field) => {
    const named = getNamedType(field.type)
    if (isLeafType(named)) return [field.name]
    if (isInterfaceType(named) || !isObjectType(named) || depth === 0) return []
    if (field.args.some(isRequiredArgument)) return []
    const page = field.args.some(({ name }) => name === 'first') ? '(first: 1)' : ''
    return [`${field.name}${page} { ${everything(named, depth - 1)} }`]
  })
  return ['__typename', ...fields].join(' ')
}

/** The leaves of a payload, each of its objects alone with the leaves below it, and everything. */
function selectionsOf(payload: GraphQLObjectType): [label: string, selection: string][] {
  const alone = Object.values(payload.getFields()).flatMap((field) => {
    const named = getNamedType(field.type)
    if (!isObjectType(named)) return []
    return [0, 1].map((depth): [string, string] => [
      `${field.name} to depth ${depth}`,
      `${field.name} { ${everything(named, depth)} }`,
    ])
  })
  return [['no object', everything(payload, 0)], ...alone, ['all fields', everything(payload, 3)]]
}

const cases = mutations.flatMap(({ name, type }) => {
  const payload = getNamedType(type)
  if (!isObjectType(payload)) throw new Error(`${name} has no payload`)
  return selectionsOf(payload).map((one) => [name as MutationName, ...one] as const)
})

test.each(share(1, cases))(
  'the price of %s covers its commands: %s',
  async (name, _, selection) => {
    const input = schema.getMutationType()?.getFields()[name]?.args[0]?.type
    const { ready } = prepared[name]
    const pair = await newPair(app)
    const variables = { input: { ...(await ready(pair)), clientMutationId: 'once' } }
    const query = `mutation ($input: ${input}) { ${name}(input: $input) { ${selection} } }`
    await knowViewers(app, pair.viewer)
    const { result, commands } = await recorded(app.database.client, () =>
      app.send({ as: pair.viewer, query, variables }),
    )
    expect(result.errors).toEqual([])
    const labels = labelsOf(commands)
    const most = result.extensions.cost.requested / commandPrice
    expect(labels.length <= most, `${labels.length} above ${most}: ${labels}`).toBe(true)
  },
)
