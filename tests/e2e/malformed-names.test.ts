import type { Document } from 'mongodb'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Handle, UserId } from '../../src/lib/ids.ts'
import {
  damage,
  fieldOf,
  type MalformedCase,
  malformedCases,
  readStored,
  restore,
  type Stored,
} from '../integration/damage/malformed.ts'
import { useApp } from '../support/app.ts'
import { patient } from '../support/patience.ts'
import { share } from '../support/repetition.ts'
import { subjectOf } from '../support/services.ts'

const app = useApp()
const damaged: readonly string[] = ['users', 'user_stats', 'handles', 'subjects']

/** Requests about accounts, and who sends each. Mutations of names come last. */
const requests: readonly (readonly [as: string | undefined, query: string])[] = [
  ['ann', '{ viewer { id handle account { id handle name createdAt postCount } } }'],
  ['ann', '{ timeline(first: 5) { edges { node { id author { handle } } } } }'],
  ['ben', '{ user(handle: "anna") { id handle name createdAt followerCount viewerFollows } }'],
  [undefined, '{ user(handle: "ann1") { id handle } }'],
  ['ben', '{ isHandleAvailable(handle: "anna") }'],
  ['ben', '{ isHandleAvailable(handle: "ann1") }'],
  ['ann', '{ isHandleAvailable(handle: "anna") }'],
  ['ben', 'mutation { createPost(input: { text: "Hi @anna and @ann1" }) { post { id } } }'],
  ['ben', 'mutation { followUser(input: { user: { handle: "anna" } }) { changed } }'],
  ['ben', 'mutation { muteUser(input: { user: { handle: "ann1" } }) { changed } }'],
  ['ann', 'mutation { createPost(input: { text: "Hello" }) { post { id author { handle } } } }'],
  ['ann', 'mutation { createUser(input: { name: "A", handle: "other" }) { user { id handle } } }'],
  ['cem', 'mutation { createUser(input: { name: "C", handle: "anna" }) { user { id handle } } }'],
  ['cem', 'mutation { createUser(input: { name: "C", handle: "ann1" }) { user { id handle } } }'],
  ['ben', 'mutation { updateUser(input: { handle: "anna" }) { user { handle } } }'],
  ['ann', 'mutation { updateUser(input: { name: "Ann" }) { user { handle name createdAt } } }'],
  ['ann', 'mutation { updateUser(input: { handle: "annb" }) { user { handle } } }'],
  ['ann', 'mutation { deleteUser(input: {}) { changed handle } }'],
]

let stored: Stored
let ann: UserId
let cases: readonly MalformedCase[] = []

beforeAll(async () => {
  const { users } = app.services
  const register = async (name: string, handle: string) => {
    const user = await users.register(subjectOf(name), { name, handle: handle as Handle })
    return user?.id as UserId
  }
  ann = await register('ann', 'ann1')
  await register('ben', 'ben')
  await users.update(ann, { handle: 'anna' as Handle, bio: 'I am Ann' })
  await app.rest()
  stored = await readStored(app.services)
  cases = malformedCases(stored).filter(({ collection }) => damaged.includes(collection))
})

/**
 * The requests about a malformed document that end in an internal error, or give a name of an
 * account away.
 */
async function problemsOf(one: MalformedCase): Promise<string[]> {
  const problems: string[] = []
  const doc = await damage(app.services, stored, one)
  if (!doc) return []
  for (const [as, query] of requests) {
    // Each sender is looked up again, as by a process that has just started.
    app.services.subjects.forget(subjectOf(as ?? ''))
    const { data, errors } = await app.send({ as, query })
    const codes = errors.map(({ extensions }) => extensions.code)
    if (codes.includes('INTERNAL_SERVER_ERROR')) problems.push(`${as} ${query}`)
    const opened = data?.createUser?.user?.handle
    // MongoDB deletes a handle that is kept until a date in the past, whenever it looks.
    const isOver = one.path === 'until' && one.type === 'date'
    const isLost = one.path === '_id' || one.type === 'missing' || isOver
    if (opened && !isLost && !isNobody(doc)) problems.push(`${as} opens ${opened}`)
  }
  return problems.map((problem) => `${fieldOf(one)} ${one.type}: ${problem}`)
}

/** Whether a document names an account that does not exist. */
const isNobody = ({ account }: Document): boolean => typeof account === 'string' && account !== ann

describe('malformed handles, subjects and accounts', () => {
  test(
    'a malformed account, handle or subject fails no request with an internal error, and no one takes it',
    async () => {
      const problems: string[] = []
      for (const one of share(8, cases)) {
        problems.push(...(await problemsOf(one)))
        await restore(app.services, stored)
      }
      expect(problems).toEqual([])
    },
    patient(1_200_000),
  )
})
