import { openCollections } from '../../../src/db/collections.ts'
import { createIdempotencyKey, type IdempotencyKey } from '../../../src/db/idempotency.ts'
import type { MongoClient } from '../../../src/db/mongo.ts'
import type { PostId, UserId } from '../../../src/lib/ids.ts'
import type { ServiceConfig, Services } from '../../../src/services.ts'
import { sameLimits } from '../../support/engagement.ts'
import { gate, silent } from '../../support/jobs.ts'
import { keepMemory } from '../../support/memory.ts'
import { type ServicesHarness, servicesOver } from '../../support/services.ts'
import type { Step } from './race-steps.ts'
import { type Documents, firstConflict, restore } from './races.ts'
import { type Around, watchedDatabase } from './stored-timelines.ts'

const engagement = sameLimits({ threshold: 3, capacity: 2 })

/** The part of a harness that processes share. */
type Deployment = Pick<ServicesHarness, 'database' | 'clock'>

/** The key of a post with this text. */
export const keyOf = (author: UserId, text: string): IdempotencyKey | undefined =>
  createIdempotencyKey(author, 'createPost', { clientMutationId: text, text } as object)

/** Publishes a post with an idempotency key. A repeat has the same id. */
export async function publish(
  { posts }: Services,
  author: UserId,
  text: string,
): Promise<PostId | undefined> {
  return (await posts.create(author, { text }, keyOf(author, text)))?.id
}

/** Another process. Its driver calls go through `around` from `watch` on. */
export function processOver(
  { database, clock }: Deployment,
  maintained: ServiceConfig['feed']['maintained'],
  around: Around,
) {
  let isWatched = false
  const over = watchedDatabase(database, (label, call) =>
    isWatched ? around(label, call) : call(),
  )
  const services = servicesOver(over, clock, engagement, 'collection', { maintained })
  services.inline.start(services.tasks, silent)
  return {
    services,
    watch: () => {
      isWatched = true
    },
  }
}

/**
 * As {@link processOver}, without a strategy, of a process whose memory knows the registrations.
 */
export async function keepingProcess(deployment: Deployment, around: Around) {
  const made = processOver(deployment, [], around)
  const { memory } = made.services
  await keepMemory({ memory, collections: openCollections(deployment.database.db) })
  return { ...made, [Symbol.asyncDispose]: () => memory.close() }
}

/** Holds the call with this number. */
export function heldAt(at: number) {
  const calls: string[] = []
  const [reached, going] = [gate(), gate()]
  const around: Around = async (label, call) => {
    if (calls.push(label) - 1 === at) {
      reached.open()
      await going.opened
    }
    return call()
  }
  return { around, calls, reached: reached.opened, go: going.open }
}

/**
 * Does one thing until it is held, then another one until it ends or collides, and lets the first
 * go on.
 * @returns whether the call was reached, and both results.
 */
export async function meet<Done, Other>(
  client: MongoClient,
  { reached, go }: Pick<ReturnType<typeof heldAt>, 'reached' | 'go'>,
  both: { readonly doing: () => Promise<Done>; readonly whileHeld: () => Promise<Other> },
) {
  const done = both.doing()
  const isReached = await Promise.race([reached.then(() => true), done.then(() => false)])
  await using meeting = firstConflict(client)
  const other = both.whileHeld()
  // A write that collides with a held transaction retries in vain until the transaction goes on.
  await Promise.race([other, meeting.met])
  go()
  return { isReached, results: await Promise.all([done, other]) }
}

/** Dies at the call with this number, before or after it. Nothing is sent later. */
export function dyingAt(at: number, when: 'before' | 'after') {
  const calls: string[] = []
  let isDead = false
  const die = () => {
    isDead = true
    throw new Error('the process is dead')
  }
  const around: Around = async (label, call) => {
    if (isDead) die()
    if (calls.push(label) - 1 !== at) return call()
    if (when === 'after') await call()
    return die()
  }
  return { around, calls }
}

/**
 * A race: a process does something, held at one of its calls, while another one does something
 * else.
 */
export interface Race {
  readonly deployment: Deployment
  readonly main: Services
  readonly given: Documents
  readonly author: UserId
  readonly whileHeld: Step
  /** Done once the held process goes on and has ended. */
  readonly afterwards: Step
}

/**
 * Plays a race with the post of a process that needs no job. @returns whether the call was reached.
 */
export async function playPost(race: Race, at: number): Promise<boolean> {
  const { deployment, main, given, author, whileHeld, afterwards } = race
  await restore(main, given)
  const held = heldAt(at)
  await using keeping = await keepingProcess(deployment, held.around)
  const { services: slow, watch } = keeping
  // Reads the account and the registrations.
  await publish(slow, author, 'before')
  watch()
  const { isReached } = await meet(deployment.database.client, held, {
    doing: () => publish(slow, author, 'new'),
    whileHeld: () => whileHeld(main),
  })
  await afterwards(main)
  return isReached
}
