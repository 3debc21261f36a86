import { readdir } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Finding, Report } from '../../src/integrity/report.ts'
import { reconcile } from '../../src/integrity/run.ts'
import type { PostId, PostRef, UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { materialisedNames } from '../../src/timeline/strategies/list.ts'
import { persist } from '../support/eventually.ts'
import { handle, openAccounts, type ServicesHarness, useServices } from '../support/services.ts'
import { verified } from '../support/verify.ts'
import { accountDamages } from './damage/accounts.ts'
import { documentedInvariants, readIntegrityPage } from './damage/documented.ts'
import { edgeDamages } from './damage/edges.ts'
import { handleDamages } from './damage/handles.ts'
import { listDamages } from './damage/lists.ts'
import { type Damage, noticedAs, type Scene, tableOf } from './damage/row.ts'
import { timelineDamages } from './damage/timelines.ts'

const graphDamages = [...accountDamages, ...handleDamages, ...edgeDamages]
const fans = Array.from({ length: 7 }, (_, n) => handle(`fan${n}`))
const compared = [
  ...(['users', 'user_stats', 'followers', 'following', 'follow_events', 'restrictions'] as const),
  ...(['posts', 'overflow', 'engagements_by_user', 'handles', 'subjects'] as const),
]
/** The fields that repairs and conflicting writes increment, and the version that both renew. */
const uncompared = { projection: { repairs: 0, guard: 0, audience: 0 } }

/** All documents by their row of the table; documents of no row under an empty name. */
async function documents({ collections }: Services, scenes: readonly Scene[]) {
  const tags = new Map(scenes.map(({ post, a }) => [post.id as string, a.slice(0, -1)]))
  const rows = new Map<string, string[]>()
  for (const name of compared) {
    for (const doc of await (collections[name] as Services['collections']['posts'])
      .find({}, uncompared)
      .toArray()) {
      const text = JSON.stringify(sorted(JSON.parse(JSON.stringify(doc))))
      const own = /"(row\d\d)[abcx]"/.exec(text)?.[1]
      const id = [...tags.keys()].find((id) => text.includes(id))
      const row = own ?? tags.get(id ?? '') ?? ''
      rows.set(row, [...(rows.get(row) ?? []), `${name} ${text}`].sort())
    }
  }
  return rows
}

/** The same value with its fields in the order of their names. */
const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([one], [other]) => (one < other ? -1 : 1))
            .map(([name, field]) => [name, sorted(field)]),
        )
      : value

const nameOf = ({ law, kind, subject }: Finding) => `${law} ${kind} ${subject}`
/** Whether a finding is the one of a row, without ids that only the damage knows. */
const isNoticed = (found: string, noticed: string) =>
  found === noticed ||
  found.startsWith(`${noticed} `) ||
  found.replace(/ [0-9a-f]{24} of/, ' of') === noticed

/** Applies all damage of a table at once, each to its own users and posts, and then reconciles. */
function useDamages(harness: ServicesHarness, damages: readonly Damage[]) {
  const all = damages.filter(({ only = harness.following }) => only === harness.following)
  const result = {
    all,
    scenes: [] as Scene[],
    found: [] as Finding[],
    left: [] as Finding[],
    before: new Map<string, string[]>(),
    damaged: new Map<string, string[]>(),
    after: new Map<string, string[]>(),
    run: new Report(Number.POSITIVE_INFINITY),
  }
  beforeAll(async () => {
    const { services, rest, clock } = harness
    const tagged = all.map((_, n) =>
      ['a', 'b', 'c', 'x'].map((end) => handle(`row${String(n).padStart(2, '0')}${end}`)),
    )
    await openAccounts(services, [...fans, ...tagged.flatMap((ends) => ends.slice(0, 3))])
    await Promise.all(
      tagged.map(async ([a, b, c, x], n) => {
        if (!a || !b || !c || !x) return
        const create = (author: UserId, text: string) =>
          persist(() => services.posts.create(author, { text }))
        const add = (kind: 'likes' | 'shares', fan: UserId) =>
          persist(() => services.engagements.add(kind, fan, post))
        const post: PostRef = await create(b, 'hello')
        await create(b, 'and more')
        if (damages === timelineDamages) await create(c, 'other')
        await persist(() => services.follows.follow(a, b))
        if (damages === listDamages) {
          for (const fan of fans) await add('likes', fan)
          for (const fan of fans.slice(0, 2)) await add('shares', fan)
        }
        result.scenes[n] = { services, a, b, c, x, post }
      }),
    )
    await rest()
    if (damages === timelineDamages) {
      const window = { limit: 1, backward: false, after: undefined as PostId | undefined }
      for (const { a } of result.scenes) {
        await services.feed.timeline(a, { strategy: 'CACHE', window, projection: 'ref' })
      }
    }
    result.before = await documents(services, result.scenes)
    for (const [n, { inject }] of all.entries()) await inject(result.scenes[n] as Scene)
    result.damaged = await documents(services, result.scenes)
    const first = await verified(services)
    result.found = [...first.differences]
    await reconcile(services, { readers: 'all' }, result.run)
    clock.advance(60_000)
    const parked = await services.collections.outbox.find({ state: 'PARKED' }).toArray()
    await services.collections.outbox.deleteMany({ state: 'PARKED' })
    await rest()
    if (parked.length > 0) await services.collections.outbox.insertMany(parked)
    const last = await verified(services)
    result.left = [...last.differences]
    result.after = await documents(services, result.scenes)
  })
  return result
}

function testTable(harness: ServicesHarness, damages: readonly Damage[]): void {
  const result = useDamages(harness, damages)

  const cases = result.all.map(({ name }, n) => [name, n] as const)
  test.each(cases)('verify and reconcile treat as documented: %s', (_, n) => {
    const damage = result.all[n] as Damage
    const scene = result.scenes[n] as Scene
    const row = scene.a.slice(0, -1)
    const noticed = damage.noticed(scene)
    for (const one of noticed) {
      expect(result.found.map(nameOf).filter((found) => isNoticed(found, one))).toHaveLength(1)
    }
    const left = result.left
      .map(nameOf)
      .filter((found) => noticed.some((one) => isNoticed(found, one)))
    if (damage.answer === 'reported') {
      expect(left).toHaveLength(noticed.length)
      expect(result.after.get(row)).toEqual(result.damaged.get(row))
      const reported = result.run.sample.filter((one) => !one.repaired).map(nameOf)
      expect(reported.filter((found) => noticed.some((one) => isNoticed(found, one)))).toEqual(left)
    } else {
      expect(left).toEqual([])
      if (!damage.endsOtherwise) expect(result.after.get(row)).toEqual(result.before.get(row))
    }
  })

  test('verify and reconcile find, change and leave nothing else', () => {
    const noticed = result.all.flatMap((one, n) => one.noticed(result.scenes[n] as Scene))
    const others = (findings: readonly Finding[]) =>
      findings.map(nameOf).filter((found) => !noticed.some((one) => isNoticed(found, one)))
    expect(others(result.found)).toEqual([])
    const reported = result.all.flatMap((one, n) =>
      one.answer === 'reported' ? one.noticed(result.scenes[n] as Scene) : [],
    )
    expect(result.left).toHaveLength(reported.length)
    expect(result.after.get('')).toEqual(result.before.get(''))
    expect(result.run).toMatchObject({ remaining: 0, unrepairable: reported.length })
  })

  test('each finding has the law, invariant and kind of a row in the documentation', async () => {
    const documented = (await documentedInvariants()).flatMap(({ law, name, kinds }) =>
      kinds.map((kind) => `${law} ${name} ${kind}`),
    )
    const found = result.found.map(({ law, invariant, kind }) => `${law} ${invariant} ${kind}`)
    expect(found.filter((one) => !documented.includes(one))).toEqual([])
  })
}

describe('accounts and edges', () => testTable(useServices(), graphDamages))
describe('likes, comments and shares', () => testTable(useServices(), listDamages))
describe('timelines and jobs', () => {
  testTable(
    useServices('collection', undefined, { maintained: materialisedNames }),
    timelineDamages,
  )
})

test('the documentation lists all invariants of src, and each invariant finds a damage', async () => {
  const documented = await documentedInvariants()
  const files = await readdir(new URL('../../src/integrity/invariants', import.meta.url))
  const names = documented.map(({ name }) => `${name}.ts`)
  expect(names.toSorted()).toEqual(files.toSorted())
  const damages = [...graphDamages, ...listDamages, ...timelineDamages]
  const noticed = new Set(damages.map(noticedAs))
  const unnoticed = documented.filter(
    ({ law, kinds }) => !kinds.some((kind) => noticed.has(`${law} ${kind}`)),
  )
  expect(unnoticed).toEqual([])
})

test('the documentation has the table of damages', async () => {
  const text = await readIntegrityPage()
  for (const damages of [graphDamages, listDamages, timelineDamages]) {
    expect(text).toContain(tableOf(damages))
  }
})
