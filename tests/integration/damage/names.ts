import type { Collection, Document } from 'mongodb'
import { expect } from 'vitest'
import type { Finding } from '../../../src/integrity/report.ts'
import { Report } from '../../../src/integrity/report.ts'
import { reconcile } from '../../../src/integrity/run.ts'
import type { Handle, UserId } from '../../../src/lib/ids.ts'
import type { Services } from '../../../src/services.ts'
import { subjectOfKey } from '../../../src/users/subjects.ts'
import { subjectOf } from '../../support/services.ts'
import { newId, verified } from '../../support/verify.ts'

type NamedCollection = 'users' | 'user_stats' | 'handles' | 'subjects'
/** Documents by collection and id. */
type World = Record<NamedCollection, Map<string, Document>>

/** An account with all that names it, and another one that is never damaged but may be named. */
export interface NamedScene {
  readonly account: UserId
  readonly other: UserId
  readonly handle: string
  readonly former: string
  readonly subject: string
  readonly documents: readonly (readonly [NamedCollection, Document])[]
}

const until = new Date('2099-01-01')
const createdAt = new Date('2020-01-01')

/** Five characters that no other scene has. */
const tagOf = (at: number): string => `t${at.toString(16).padStart(4, '0')}`

function sceneOf(tag: string): NamedScene {
  const [account, other] = [`A${tag}00000` as UserId, `O${tag}00000` as UserId]
  const [handle, former] = [`h-${tag}`, `f-${tag}`]
  const subject = `https://id.example s-${tag}`
  const theirs = { handle: `o-${tag}`, subject: ` o-${tag}` }
  const states = { handle, formerHandles: [{ handle: former, until }], subject }
  return {
    ...{ account, other, handle, former, subject },
    documents: [
      ['users', { _id: account, name: 'Ann', createdAt, ...states }],
      ['users', { _id: other, name: 'Other', createdAt, ...theirs }],
      ['user_stats', { _id: account, followers: 0, following: 0, posts: 1 }],
      ['user_stats', { _id: other, followers: 0, following: 0, posts: 0 }],
      ['handles', { _id: handle, account }],
      ['handles', { _id: former, account, until }],
      ['handles', { _id: theirs.handle, account: other }],
      ['subjects', { _id: subject, account }],
      ['subjects', { _id: theirs.subject, account: other }],
    ],
  }
}

/** A field of one of the account's documents, and what damages it. */
export interface NameDamage {
  readonly name: string
  readonly collection: NamedCollection
  /** Which document. */
  readonly idOf: (scene: NamedScene) => string
  /** Undefined: the document is absent. */
  readonly change: (doc: Document, scene: NamedScene) => Document | undefined
}

const without = (doc: Document, field: string): Document =>
  Object.fromEntries(Object.entries(doc).filter(([name]) => name !== field))

type Values = Readonly<Record<string, (scene: NamedScene) => unknown>>
const malformed: Values = {
  null: () => null,
  'a number': () => 7,
  'a list': ({ handle }) => [handle],
  'an object': ({ account }) => ({ account }),
}

function damagesOf(
  collection: NamedCollection,
  label: string,
  idOf: NameDamage['idOf'],
  fields: Readonly<Record<string, Values>>,
): NameDamage[] {
  const of = (name: string, change: NameDamage['change']): NameDamage => ({
    ...{ name: `${label} ${name}`, collection, idOf, change },
  })
  return [
    of('absent', () => undefined),
    ...Object.entries(fields).flatMap(([field, values]) => [
      of(`without ${field}`, (doc) => without(doc, field)),
      ...Object.entries({ ...malformed, ...values }).map(([value, create]) =>
        of(`${field} ${value}`, (doc, scene) => ({ ...doc, [field]: create(scene) })),
      ),
    ]),
  ]
}

const named = (label: string, idOf: NameDamage['idOf'], collection: 'handles' | 'subjects') =>
  damagesOf(collection, label, idOf, {
    account: {
      empty: () => '',
      'of another': ({ other }) => other,
      'of nobody': () => 'Gnobody0000',
      'its name': ({ handle }) => `${handle}.`,
    },
    until: {
      'a text': () => '2099',
      later: () => new Date('2098-01-01'),
    },
  })

/**
 * Every field of what names an account: absent, of another type, empty, of another account, of no
 * account, in another form.
 */
export const nameDamages: readonly NameDamage[] = [
  ...damagesOf('users', 'users', ({ account }) => account, {
    handle: {
      empty: () => '',
      'of another': ({ other }) => `o-${other.slice(1, 6)}`,
      'of nobody': ({ handle }) => `${handle}-nobody`,
      'in capitals': ({ handle }) => handle.toUpperCase(),
      'with a space': ({ handle }) => `${handle} `,
      'a former one': ({ former }) => former,
    },
    subject: {
      empty: () => '',
      'a space': () => ' ',
      'of another': ({ other }) => ` o-${other.slice(1, 6)}`,
      'of nobody': ({ subject }) => `${subject}-nobody`,
      'of another issuer': ({ subject }) => `https://other.example ${subjectOfKey(subject).sub}`,
      'in capitals': ({ subject }) => subject.toUpperCase(),
    },
    formerHandles: {
      empty: () => [],
      'of a number': () => [{ handle: 7, until }],
      'without a time': ({ former }) => [{ handle: former }],
      'of a text as time': ({ former }) => [{ handle: former, until: '2099' }],
      'of nobody': ({ former }) => [{ handle: `${former}-nobody`, until }],
      'of another': ({ other }) => [{ handle: `o-${other.slice(1, 6)}`, until }],
      'that ended': ({ former }) => [{ handle: former, until: createdAt }],
      'that ends sooner': ({ former }) => [{ handle: former, until: new Date('2098-01-01') }],
    },
    deletedAt: { set: () => createdAt },
    createdAt: {},
    settlesAt: {},
  }),
  ...damagesOf('user_stats', 'user_stats', ({ account }) => account, {}),
  ...named('handles', ({ handle }) => handle, 'handles'),
  ...named('former handle', ({ former }) => former, 'handles'),
  ...named('subjects', ({ subject }) => subject, 'subjects'),
]

/** Damages of the same account. */
export type NameCase = readonly NameDamage[]

const nameOfCase = (damages: NameCase): string => damages.map(({ name }) => name).join(' and ')

const collections: readonly NamedCollection[] = ['users', 'user_stats', 'handles', 'subjects']
const open = ({ collections: all }: Services, name: NamedCollection) =>
  all[name] as unknown as Collection<Document>

async function readWorld(services: Services): Promise<World> {
  const read = async (name: NamedCollection) => {
    const docs = await open(services, name).find({}).toArray()
    return [name, new Map(docs.map((doc) => [String(doc._id), doc]))] as const
  }
  const worlds = await Promise.all(collections.map(read))
  return Object.fromEntries(worlds) as unknown as World
}

const sameWorld = (world: World): string =>
  JSON.stringify(
    collections.map((name) => [...world[name].values()].map(({ repairs: _, ...doc }) => doc)),
  )

/**
 * Does each damage to an account of its own, reconciles twice, and lets strangers try to take each
 * name.
 * @returns what is wrong, by case. Empty if no repair frees, gives or takes a name that a document
 *   ties to the account.
 */
export async function problemsOfNames(
  services: Services,
  cases: readonly NameCase[],
): Promise<string[]> {
  const scenes = cases.map((_, at) => sceneOf(tagOf(at)))
  for (const name of collections) {
    const docs = scenes.flatMap(({ documents }) =>
      documents.flatMap(([collection, doc]) => (collection === name ? [doc] : [])),
    )
    await open(services, name).insertMany(docs)
  }
  await services.collections.posts.insertMany(
    scenes.map(({ account }) => ({ _id: newId(), author: account, text: 'hello' })),
  )
  expect((await verified(services)).differences).toEqual([])
  const whole = await readWorld(services)
  const damaged: World = {
    ...{ users: new Map(whole.users), user_stats: new Map(whole.user_stats) },
    ...{ handles: new Map(whole.handles), subjects: new Map(whole.subjects) },
  }
  for (const [at, damages] of cases.entries()) {
    const scene = scenes[at] as NamedScene
    for (const { collection, idOf, change } of damages) {
      const doc = damaged[collection].get(idOf(scene))
      const changed = doc && change(doc, scene)
      if (changed) damaged[collection].set(idOf(scene), changed)
      else damaged[collection].delete(idOf(scene))
    }
  }
  for (const name of collections) {
    const hurt = [...whole[name]].filter(([_id, doc]) => damaged[name].get(_id) !== doc)
    const ids = hurt.map(([_id]) => _id)
    await open(services, name).deleteMany({ _id: { $in: ids } } as Document)
    const docs = ids.flatMap((_id) => damaged[name].get(_id) ?? [])
    if (docs.length > 0) await open(services, name).insertMany(docs)
  }
  const problems: string[] = []
  const before = (await verified(services)).differences
  const first = new Report(Number.POSITIVE_INFINITY)
  await reconcile(services, { readers: 0 }, first)
  if (first.remaining > 0) problems.push(`${first.remaining} remain`)
  const after = await readWorld(services)
  const left = (await verified(services)).differences
  const texts = (findings: readonly Finding[]) =>
    findings.map(({ kind, subject }) => `${kind} ${subject}`).sort()
  expect(texts(left)).toEqual(texts(first.sample.filter(({ repaired }) => !repaired)))
  const again = await reconcile(services, { readers: 0 })
  if (again.repaired + again.remaining > 0) {
    problems.push(`the second run repairs: ${texts(again.sample).slice(0, 5)}`)
  }
  if (sameWorld(await readWorld(services)) !== sameWorld(after))
    problems.push('the second run writes')
  for (const [at, one] of cases.entries()) {
    const scene = scenes[at] as NamedScene
    const about = (findings: readonly Finding[]) =>
      texts(findings).filter((text) => text.toLowerCase().includes(tagOf(at)))
    const worlds = { whole, damaged, after }
    for (const problem of await problemsOf(services, scene, worlds, about(before), about(left))) {
      problems.push(`${nameOfCase(one)}: ${problem} (${about(before)} -> ${about(left)})`)
    }
  }
  return problems
}

interface Worlds {
  readonly whole: World
  readonly damaged: World
  readonly after: World
}

async function problemsOf(
  services: Services,
  scene: NamedScene,
  { whole, damaged, after }: Worlds,
  found: readonly string[],
  left: readonly string[],
): Promise<string[]> {
  const { account, other, handle, former, subject } = scene
  const problems: string[] = []
  const claim = (holds: boolean, problem: string) => void (holds || problems.push(problem))
  const owner = damaged.users.get(account)
  const isHurt = collections.some((name) =>
    [account, handle, former, subject].some(
      (id) => textOf(damaged[name].get(id)) !== textOf(whole[name].get(id)),
    ),
  )
  const isSame = collections.every((name) =>
    [account, handle, former, subject].every((id) => {
      const doc = whole[name].get(id)
      return !doc || namesIn(name, doc) === namesIn(name, after[name].get(id))
    }),
  )
  // The other account keeps what it has. It may get a former handle that a document keeps for it.
  const ofOther = (world: World, name: NamedCollection, id: string) => {
    const { formerHandles, ...doc } = world[name].get(id) ?? {}
    const others = (formerHandles as readonly Document[] | undefined) ?? []
    const isGiven = (one: Document) => damaged.handles.get(one.handle)?.account !== other
    return textOf({ ...doc, formerHandles: others.filter(isGiven) })
  }
  for (const name of collections) {
    for (const id of [other, `o-${other.slice(1, 6)}`, ` o-${other.slice(1, 6)}`]) {
      claim(ofOther(after, name, id) === ofOther(whole, name, id), `${name} ${id} changed`)
    }
  }
  const names = [
    { collection: 'handles', key: handle },
    { collection: 'handles', key: former },
    { collection: 'subjects', key: subject },
  ] as const
  const isForeign = (doc: Document | undefined) =>
    ['', other, 'Gnobody0000', `${handle}.`].includes(doc?.account)
  /** Whether a document still says that the account has the name. */
  const isTied = ({ collection, key }: (typeof names)[number]) => {
    const doc = damaged[collection].get(key)
    return (
      (doc !== undefined && !isForeign(doc)) ||
      (owner !== undefined && statesName(owner, collection, key))
    )
  }
  // What a rename leaves: the account states another handle, and a document keeps this one for it.
  const keptUntil = damaged.handles.get(handle)?.until
  const isOther = typeof owner?.handle === 'string' && owner.handle !== handle
  const isRename = isOther && keptUntil instanceof Date && keptUntil > createdAt
  // What a deletion leaves, whose removal only lacks its job.
  const isDeletion = owner?.deletedAt instanceof Date && !damaged.user_stats.has(account)
  if (isHurt && !isRename && !isDeletion && names.every(isTied)) {
    claim(isSame || left.length > 0, 'not as before, and not reported')
    claim(isSame || found.length > 0, 'not found')
    const signedIn = await services.subjects.find(subjectOfKey(subject))
    claim(signedIn === account || left.length > 0, `signs in to ${signedIn} without a report`)
  }
  const exists = damaged.users.has(account) || damaged.user_stats.has(account)
  for (const { collection, key } of names.filter(isTied)) {
    const doc = after[collection].get(key)
    const named = damaged[collection].get(key)
    const isKept = doc?.account === account || textOf(doc) === textOf(named)
    claim(isKept, `${collection} ${key} is given to ${doc?.account}`)
    if (doc?.account !== account) claim(left.length > 0, `${collection} ${key} is not reported`)
    if (named) claim(doc !== undefined, `${collection} ${key} is freed`)
    // A name without a document is free by the damage, and so is one of an account that is lost
    // altogether.
    if (!doc || !exists || (isForeign(named) && doc.account !== account)) continue
    const taken = await take(services, collection, key)
    claim(taken === 'CONFLICT', `a stranger takes ${collection} ${key}: ${taken}`)
  }
  const isSubjectTied = damaged.subjects.get(subject)?.account === account
  for (const key of isSubjectTied ? [`${subject}-nobody`, subject.toUpperCase()] : []) {
    const stranger = await services.subjects.find(subjectOfKey(key))
    claim(stranger !== account, `${key} signs in to the account`)
  }
  return problems
}

/**
 * What a stranger gets who wants a handle, or a person who signs in with a subject and opens an
 * account.
 */
async function take(services: Services, collection: 'handles' | 'subjects', key: string) {
  const tag = key.replace(/[^0-9a-z]/g, '')
  const opening =
    collection === 'handles'
      ? services.users.register(subjectOf(`stranger-${tag}`), { name: 'S', handle: key as Handle })
      : services.users.register(
          { ...subjectOfKey(key), isMain: subjectOfKey(key).issuer === '' },
          { name: 'S', handle: `stranger-${tag}` as Handle },
        )
  return opening.then(
    (user) => `opened ${user?.id}`,
    (error) => error.code ?? String(error),
  )
}

/** Whether an account says that it has a name, and not that this has ended. */
function statesName(owner: Document, collection: 'handles' | 'subjects', key: string): boolean {
  const { handle, subject, formerHandles } = owner
  if (collection === 'subjects') return subject === key
  const former: readonly Document[] = Array.isArray(formerHandles) ? formerHandles : []
  const kept = former.filter(({ until: end }) => !(end instanceof Date && end <= createdAt))
  return handle === key || kept.some((one) => one.handle === key)
}

const textOf = (doc: Document | undefined): string => JSON.stringify(doc) ?? 'none'

/** What a document says about names. */
function namesIn(name: NamedCollection, doc: Document | undefined): string {
  if (name === 'user_stats') return 'any'
  if (!doc) return 'none'
  if (name !== 'users') return textOf({ account: doc.account, isKept: doc.until !== undefined })
  const { handle, subject, deletedAt, createdAt: created } = doc
  return textOf({ handle, subject, deletedAt, created })
}
