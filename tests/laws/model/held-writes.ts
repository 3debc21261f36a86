import { createIdempotencyKey, type IdempotencyKey } from '../../../src/db/idempotency.ts'
import { toObjectId } from '../../../src/db/object-id.ts'
import { type EngagementKind, engagementKinds } from '../../../src/engagement/kinds.ts'
import { DomainError } from '../../../src/errors.ts'
import type { PostRef, UserId } from '../../../src/lib/ids.ts'
import type { Services } from '../../../src/services.ts'
import { engagementProblems, type Limits, sameLimits, walked } from '../../support/engagement.ts'
import { keepMemory } from '../../support/memory.ts'
import {
  handle,
  openAccounts,
  problemsOf,
  type ServicesHarness,
  servicesOver,
} from '../../support/services.ts'
import { dyingAt, heldAt, meet } from './publishers.ts'
import { type Around, watchedDatabase } from './stored-timelines.ts'

/** The limits of lists in these races. */
export const raceLimits: Limits = { threshold: 3, capacity: 2 }

/** Users of one race, and posts of the author. */
export interface RaceScene {
  readonly prefix: string
  readonly author: UserId
  readonly actor: UserId
  readonly fans: readonly UserId[]
  readonly post: PostRef
  readonly other: PostRef
}

/** A write of one process, with the key of its mutation. */
export type RaceWrite = (services: Services, scene: RaceScene) => Promise<unknown>

/** The key of a mutation of the actor. @param input differs between mutations. */
export const keyOf = ({ actor }: RaceScene, input: string, id = 'mutation') =>
  createIdempotencyKey(actor, input, { clientMutationId: id }) as IdempotencyKey

/** Opens a scene. */
export type OpenScene = (services: Services) => Promise<RaceScene>
let scenes = 0
/**
 * Opens a scene of its own. @param entries how many fans have an entry in each list of the post.
 */
export const sceneWith =
  (entries: number): OpenScene =>
  async (services) => {
    const prefix = `race${scenes++}-`
    const users = ['author', 'actor', 'fan0', 'fan1', 'fan2', 'fan3'].map((one) =>
      handle(prefix + one),
    )
    const [author, actor, ...fans] = users as [UserId, UserId, ...UserId[]]
    await openAccounts(services, users)
    const create = async () => {
      const { id } = await services.posts.create(author, { text: 'race' })
      return { id, author }
    }
    const scene = { prefix, author, actor, fans, post: await create(), other: await create() }
    for (const fan of fans.slice(0, entries))
      await Promise.all(
        engagementKinds.map((kind) =>
          services.engagements.add(kind, fan, scene.post, { text: 'before' }),
        ),
      )
    return scene
  }

/** A process that keeps memory, and whose calls go through what `watch` is given last. */
export async function watchedProcess({ database, clock }: ServicesHarness) {
  let around: Around | undefined
  const over = watchedDatabase(database, (label, call) => (around ? around(label, call) : call()))
  const services = servicesOver(over, clock, sameLimits(raceLimits))
  // The log is not watched: it follows changes, whatever the process does.
  await keepMemory({ memory: services.memory, collections: database.collections })
  return {
    services,
    watch: (next?: Around) => {
      around = next
    },
  }
}

/** What two processes do with the same scene. */
export interface HeldRace {
  readonly harness: ServicesHarness
  readonly open: OpenScene
  readonly write: RaceWrite
  readonly rival: RaceWrite
}

type Watched = Awaited<ReturnType<typeof watchedProcess>>

/**
 * Plays a race, with the write held at its call `at`. @returns whether the call was reached, and
 * what came of it.
 */
export async function playHeld(
  { harness, open, write, rival }: HeldRace,
  slow: Watched,
  at: number,
) {
  const scene = await open(harness.services)
  const held = heldAt(at)
  slow.watch(held.around)
  const { isReached, results } = await meet(harness.database.client, held, {
    doing: () => answerOf(write(slow.services, scene)),
    whileHeld: () => answerOf(rival(harness.services, scene)),
  })
  slow.watch()
  return { isReached, call: held.calls[at], outcome: await outcomeIn(harness, scene, results) }
}

/**
 * What comes of both writes in both orders, one after the other, by a process that keeps no memory.
 */
export async function playInOrder(race: HeldRace, services: Services) {
  const { harness, open, write, rival } = race
  const outcomes = []
  for (const isReversed of [false, true]) {
    const scene = await open(harness.services)
    const early = isReversed ? undefined : await answerOf(write(services, scene))
    const two = await answerOf(rival(services, scene))
    const one = early ?? (await answerOf(write(services, scene)))
    outcomes.push(await outcomeIn(harness, scene, [one, two]))
  }
  return outcomes
}

/**
 * A process dies at the call `at` of a write. Another one makes the write, and again.
 * @returns what is stored after the death, and after the repeats, with the answers to these.
 */
export async function playDying(
  { harness, open, write }: Omit<HeldRace, 'rival'>,
  slow: Watched,
  ...death: Parameters<typeof dyingAt>
) {
  const scene = await open(harness.services)
  const { around, calls } = dyingAt(...death)
  slow.watch(around)
  // No client gets this answer.
  await write(slow.services, scene).catch(() => {})
  slow.watch()
  const isReached = calls.length > death[0]
  const dead = await outcomeIn(harness, scene, [])
  const repeats = [
    await answerOf(write(harness.services, scene)),
    await answerOf(write(harness.services, scene)),
  ]
  return {
    isReached,
    call: calls[death[0]],
    dead,
    repeated: await outcomeIn(harness, scene, repeats),
  }
}

interface RaceAnswer {
  readonly changed?: boolean
  readonly code?: string
  readonly id?: string | undefined
}

async function answerOf(work: Promise<unknown>): Promise<RaceAnswer> {
  try {
    const result = await work
    if (typeof result === 'boolean') return { changed: result }
    const { changed, entry } = result as { changed: boolean; entry?: { id: string } }
    return { changed, id: entry?.id }
  } catch (error) {
    if (error instanceof DomainError) return { code: error.code }
    throw error
  }
}

/**
 * The answers and what is stored at rest, without ids, so that it can be compared with another
 * race.
 */
async function outcomeIn(
  harness: ServicesHarness,
  scene: RaceScene,
  answers: readonly RaceAnswer[],
) {
  await harness.rest()
  const { services } = harness
  const { collections } = services
  const users = { $in: [scene.author, scene.actor, ...scene.fans] as string[] }
  const posts = [scene.post, scene.other]
  const found = await services.posts.byRefs(posts)
  const lists = async (kind: EngagementKind, post: PostRef) =>
    found.has(post.id) ? (await walked(services, kind, post)).map(({ actor }) => actor) : 'gone'
  const rows = await collections.engagements_by_user
    .find({ user: users, post: { $in: posts.map(({ id }) => toObjectId(id)) } })
    .toArray()
  const keys = await collections.idempotency_keys.find({ '_id.viewer': users }).toArray()
  const edges = await collections.followers.find({ user: users }).toArray()
  const [first] = answers.map(({ id }) => id)
  const outcome = {
    answers: answers.map(({ id, ...answer }) => ({
      ...answer,
      ...(id && { isFirst: id === first }),
    })),
    lists: await Promise.all(
      posts.flatMap((post) => engagementKinds.map((kind) => lists(kind, post))),
    ),
    rows: rows.map(({ user, kind }) => `${user} ${kind}`).sort(),
    keys: keys.map(({ _id, result }) => [_id.viewer, _id.id, (result as RaceAnswer).changed]),
    edges: edges.map(({ user, follower }) => `${follower} follows ${user}`).sort(),
    problems: [
      ...(await engagementProblems(services, raceLimits, posts)),
      ...(await problemsOf(harness, scene.prefix)),
    ],
  }
  return JSON.parse(JSON.stringify(outcome).replaceAll(scene.prefix, '')) as typeof outcome
}
