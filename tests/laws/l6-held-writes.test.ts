import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engagementKinds } from '../../src/engagement/kinds.ts'
import type { Services } from '../../src/services.ts'
import { sameLimits } from '../support/engagement.ts'
import { eventually } from '../support/eventually.ts'
import { noteFact } from '../support/facts.ts'
import { patient } from '../support/patience.ts'
import { share } from '../support/repetition.ts'
import { timeOfCases } from '../support/seed.ts'
import { servicesOver, useServices } from '../support/services.ts'
import {
  keyOf,
  type OpenScene,
  playDying,
  playHeld,
  playInOrder,
  type RaceWrite,
  raceLimits,
  sceneWith,
  watchedProcess,
} from './model/held-writes.ts'
import { heldAt } from './model/publishers.ts'

const harness = useServices('collection', sameLimits(raceLimits))
let slow: Awaited<ReturnType<typeof watchedProcess>>
let reading: Services
beforeAll(async () => {
  slow = await watchedProcess(harness)
  reading = servicesOver(harness.database, harness.clock, sameLimits(raceLimits))
})
afterAll(() => slow.services.memory.close())

/** A list that has room for one more entry, and one that overflows. */
const [room, overflow] = [sceneWith(2), sceneWith(4)]

interface Write {
  readonly open: OpenScene
  readonly write: RaceWrite
  /** The same write of the actor, as another mutation. */
  readonly byActor: RaceWrite
  readonly undo?: RaceWrite
  /** Another input under the same clientMutationId. */
  readonly conflict: RaceWrite
}

const entries = (kind: (typeof engagementKinds)[number], open: OpenScene): Write => {
  const add =
    (id?: string): RaceWrite =>
    ({ engagements }, scene) => {
      const idempotencyKey = keyOf(scene, kind, id)
      return engagements.add(kind, scene.actor, scene.post, { text: 'race', idempotencyKey })
    }
  return {
    open,
    write: add(),
    byActor: add('other'),
    ...(kind !== 'comments' && {
      undo: ({ engagements }, { actor, post }) => engagements.remove(kind, actor, post),
    }),
    conflict: ({ engagements }, scene) => {
      const idempotencyKey = keyOf(scene, 'another input')
      return engagements.add(kind, scene.actor, scene.other, { text: 'race', idempotencyKey })
    },
  }
}
const follow: Write = {
  open: room,
  write: ({ follows }, scene) => follows.follow(scene.actor, scene.author, keyOf(scene, 'follow')),
  byActor: ({ follows }, scene) =>
    follows.follow(scene.actor, scene.author, keyOf(scene, 'follow', 'other')),
  undo: ({ follows }, { actor, author }) => follows.unfollow(actor, author),
  conflict: ({ follows }, scene) =>
    follows.follow(scene.actor, scene.fans[0] ?? scene.actor, keyOf(scene, 'another input')),
}
const writes: Readonly<Record<string, Write>> = {
  ...Object.fromEntries(engagementKinds.map((kind) => [kind, entries(kind, room)])),
  'likes in overflow': entries('likes', overflow),
  'comments in overflow': entries('comments', overflow),
  'a follow': follow,
}

/** What another process does while a write is held. */
const rivals: Readonly<Record<string, (write: Write) => RaceWrite | undefined>> = {
  'the author blocks the actor':
    () =>
    ({ restrictions }, { author, actor }) =>
      restrictions.block(author, actor),
  'the actor blocks the author':
    () =>
    ({ restrictions }, { author, actor }) =>
      restrictions.block(actor, author),
  'the post is deleted':
    () =>
    ({ posts }, { author, post }) =>
      posts.delete(author, post),
  'the account of the author is deleted':
    () =>
    ({ users }, { author }) =>
      users.delete(author),
  'the account of the actor is deleted':
    () =>
    ({ users }, { actor }) =>
      users.delete(actor),
  'the actor does the same': ({ byActor }) => byActor,
  'the actor undoes it': ({ undo }) => undo,
  'others fill the list':
    () =>
    async ({ engagements }, { post, fans }) => {
      for (const kind of engagementKinds)
        for (const fan of fans) await engagements.add(kind, fan, post, { text: 'full' })
      return true
    },
  'the author follows the actor':
    () =>
    ({ follows }, { author, actor }) =>
      follows.follow(author, actor),
  'the mutation is repeated': ({ write }) => write,
  'its clientMutationId is used for another input': ({ conflict }) => conflict,
}

const rows = Object.entries(writes).flatMap(([name, write]) =>
  Object.entries(rivals).flatMap(([rivalName, rivalOf]) => {
    const rival = rivalOf(write)
    return rival ? [[name, rivalName, { ...write, rival }] as const] : []
  }),
)
let held = 0
afterAll(() => noteFact(`L6, held writes: held at ${held} calls`))

test.each(share(12, rows))(
  '%s, held at any call while %s, end as in one of both orders',
  async (_, __, one) => {
    const race = { ...one, harness }
    const orders = await playInOrder(race, reading)
    for (const { problems } of orders) expect(problems).toEqual([])
    for (let at = 0, isReached = true; isReached; at++) {
      const found = await playHeld(race, slow, at)
      expect(orders, `held before ${found.call}`).toContainEqual(found.outcome)
      isReached = found.isReached
      if (isReached) held++
    }
  },
  timeOfCases(patient(60_000)),
)

const known = Object.entries(writes).filter(([name]) => !name.includes('overflow'))
describe.each(share(1, known))('%s', (_, write) => {
  test('of a process that dies at any call leave all or nothing, and a repeat makes it whole', async () => {
    const nothing = { ...write, rival: async () => true, write: async () => true }
    const [none] = await playInOrder({ ...nothing, harness }, reading)
    const [whole] = await playInOrder({ ...write, rival: write.write, harness }, reading)
    const stored = (outcome: typeof none) => ({ ...outcome, answers: [] })
    for (const when of share(1, ['before', 'after'] as const)) {
      for (let at = 0, isReached = true; isReached; at++) {
        const found = await playDying({ ...write, harness }, slow, at, when)
        const isWhole = found.call === undefined || (found.call === 'commit' && when === 'after')
        expect(stored(found.dead), found.call).toEqual(stored(isWhole ? whole : none))
        expect(found.repeated, found.call).toEqual(whole)
        isReached = found.isReached
      }
    }
  })

  test('need no read of what the filter of their update decides', async () => {
    await eventually(async () => {
      const scene = await write.open(harness.services)
      const { around, calls } = heldAt(-1)
      slow.watch(around)
      await write.write(slow.services, scene)
      slow.watch()
      expect(calls).not.toContain('posts.find')
      expect(calls).not.toContain('followers.find')
    })
  })
})
