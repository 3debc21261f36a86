import { type Document, ObjectId } from 'mongodb'
import { highestId, lowestId } from '../../../src/db/object-id.ts'
import { feedStrategyNames } from '../../../src/timeline/strategies/list.ts'
import { hot, hotIds, hotPeriods, others } from './large-database.ts'

/** Fields that hold an account. */
const ofUsers = new Set([
  '_id',
  'user',
  'follower',
  'followee',
  'author',
  'owner',
  'other',
  'reader',
  'actor',
  'about',
  'after',
])
const bounds = new Set([lowestId.toHexString(), highestId.toHexString()])
const names = new Set<string>(feedStrategyNames)

/**
 * Replaces the values of a statement by keys of the large database. Its first user becomes the hot
 * user, the other users become followers of the hot user. Its ids and periods become ids and
 * periods of the hot user, in the same order.
 */
export function aboutLarge(statement: Document): Document {
  const users = new Set<string>()
  const ids = new Set<string>()
  const periods = new Set<number>()
  walk(statement, (value, field) => {
    if (isUser(value, field)) users.add(value)
    if (isId(value)) ids.add(value.toString())
    if (isPeriod(value, field)) periods.add(value)
    return value
  })
  const user = new Map([...users].map((name, n) => [name, n === 0 ? hot : others[n - 1]]))
  const id = spread([...ids].sort(), hotIds)
  const period = spread(
    [...periods].sort((a, b) => a - b),
    hotPeriods,
  )
  return walk(statement, (value, field) => {
    if (isUser(value, field)) return user.get(value) ?? value
    if (isId(value)) {
      const mapped = id.get(value.toString())
      return typeof value === 'string' ? mapped?.toHexString() : mapped
    }
    return isPeriod(value, field) ? period.get(value) : value
  }) as Document
}

/** The number of values that a statement compares with. */
export function valuesIn(statement: Document): number {
  let count = 0
  walk(statement, (value) => {
    count++
    return value
  })
  return count
}

/** An element of `all` for each of `some`, in order and as far apart as possible. */
const spread = <From, To>(some: readonly From[], all: readonly To[]): Map<From, To> =>
  new Map(
    some.map((one, n) => [one, all[Math.floor(((n + 1) * all.length) / (some.length + 1))] as To]),
  )

const isUser = (value: unknown, field: string): value is string =>
  typeof value === 'string' &&
  value !== '' &&
  !value.startsWith('$') &&
  !isId(value) &&
  ofUsers.has(field) &&
  !names.has(value)

const isId = (value: unknown): value is ObjectId | string =>
  (value instanceof ObjectId || (typeof value === 'string' && /^[0-9a-f]{24}$/.test(value))) &&
  !bounds.has(value.toString())

const isPeriod = (value: unknown, field: string): value is number =>
  field === 'period' && typeof value === 'number' && value > 0 && Number.isFinite(value)

/** Rebuilds a statement. Operators and list elements belong to the field around them. */
function walk(
  value: unknown,
  change: (value: unknown, field: string) => unknown,
  field = '',
): unknown {
  if (Array.isArray(value)) return value.map((one) => walk(one, change, field))
  if (typeof value === 'object' && value?.constructor === Object) {
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => {
        const of = name.startsWith('$') ? field : (name.split('.').at(-1) ?? '')
        // Written values and projections do not affect how the server finds documents.
        const passed = ['u', 'update', 'projection', 'hint', 'sort', '$project'].includes(name)
        return [name, passed ? one : walk(one, change, of)]
      }),
    )
  }
  return change(value, field)
}
