import { connect } from '../../src/db/client.ts'
import { openCollections } from '../../src/db/collections.ts'
import { applyIndexes } from '../../src/db/indexes.ts'
import type { ObjectId } from '../../src/db/mongo.ts'
import { toObjectId } from '../../src/db/object-id.ts'
import { type EdgeId, timeIdAt } from '../../src/lib/ids.ts'
import type { BenchDatabase } from '../database.ts'

/** How many whom each person follows, and how many followers the celebrity has for each person. */
const [followeesEach, fansEach] = [40, 10]
const batchSize = 5_000
const began = Date.UTC(2024, 0, 1)

interface Edge {
  readonly _id: ObjectId
  readonly follower: string
  readonly followee: string
}

/**
 * Stores so many people who follow 40 others each, and a celebrity whom ten times as many accounts follow that do
 * nothing else: with 100,000 people, 5,000,000 edges, a million of them the celebrity's. Holds a batch at a time.
 */
export async function storeCrowd(
  { uri, db: { databaseName } }: BenchDatabase,
  people: number,
  say: (line: string) => void,
): Promise<number> {
  if (people <= followeesEach ** 2) throw new Error(`a crowd is more than ${followeesEach ** 2}`)
  const client = await connect(uri, 'bulk')
  const db = client.db(databaseName)
  const { users, user_stats, followers, following, follow_events } = openCollections(db)
  const fans = people * fansEach
  const createdAt = new Date(began)
  const each = async <T>(items: Iterable<T>, write: (some: T[]) => Promise<unknown>) => {
    let [some, count]: [T[], number] = [[], 0]
    for (const item of items) {
      some.push(item)
      if (some.length < batchSize) continue
      await write(some)
      count += some.length
      some = []
      if (count % 500_000 === 0) say(`stored ${count}`)
    }
    if (some.length > 0) await write(some)
  }
  const options = { ordered: false, writeConcern: { w: 1 } } as const
  await Promise.all([followers, following, follow_events].map((one) => one.dropIndexes()))
  await each(accounts(people, fans), async (some) => {
    await users.insertMany(
      some.map(({ _id }) => ({ _id, createdAt })),
      options,
    )
    await user_stats.insertMany([...some], options)
  })
  await each(edges(people, fans), (some) =>
    Promise.all([
      followers.insertMany(
        some.map(({ _id, follower, followee }) => {
          return { _id, user: followee, follower, source: 'IMPORT' as const }
        }),
        options,
      ),
      following.insertMany(
        some.map(({ _id, follower, followee }) => {
          return { _id, user: follower, followee, source: 'IMPORT' as const }
        }),
        options,
      ),
      follow_events.insertMany(
        some.map(({ _id, follower: user, followee }) => {
          return { ...{ _id, user, followee, type: 'FOLLOWED' as const }, ...history }
        }),
        options,
      ),
    ]),
  )
  say('building indexes')
  await applyIndexes(db, 'collection')
  await client.close()
  return people * followeesEach + fans
}

const history = { source: 'IMPORT', at: new Date(began) } as const
const person = (n: number) => `p${n.toString().padStart(8, '0')}`
const fan = (n: number) => `f${n.toString().padStart(8, '0')}`

function* accounts(people: number, fans: number) {
  yield { _id: 'celebrity', followers: fans, following: 0, posts: 0 }
  for (let n = 0; n < people; n++) {
    yield { _id: person(n), followers: followeesEach, following: followeesEach, posts: 0 }
  }
  for (let n = 0; n < fans; n++) yield { _id: fan(n), followers: 0, following: 1, posts: 0 }
}

/** Everybody follows the next in rings of several widths: each is followed as often as they follow. */
function* edges(people: number, fans: number): Generator<Edge> {
  let at = 0
  const edge = (follower: string, followee: string): Edge => {
    const tail = at.toString(16).padStart(12, '0')
    return { _id: toObjectId(timeIdAt<EdgeId>(began + at++, tail)), follower, followee }
  }
  for (let n = 0; n < people; n++) {
    for (let step = 1; step <= followeesEach; step++) {
      yield edge(person(n), person((n + step * step) % people))
    }
  }
  for (let n = 0; n < fans; n++) yield edge(fan(n), 'celebrity')
}
