import fc from 'fast-check'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Account, accountFields } from '../../src/db/collections.ts'
import { Context } from '../../src/graphql/context.ts'
import { findNodeRef } from '../../src/graphql/node-id.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { UserStats } from '../../src/users/stats.ts'
import { type Facts, type Purpose, rulesFor, type Subject } from '../../src/visibility/rules.ts'
import { type UserPurpose, Visibility } from '../../src/visibility/visibility.ts'
import { useApp } from '../support/app.ts'
import {
  BlockedWorld,
  belongsTo,
  objectsIn,
  type Shown,
  showsLists,
  showsProfile,
} from '../support/blocked-world.ts'
import { patient } from '../support/patience.ts'
import { lawRuns, lawSeed } from '../support/seed.ts'
import { handle, openAccounts } from '../support/services.ts'
import {
  mutationPaths,
  queryPaths,
  type ReadPath,
  readPaths,
  rootOf,
} from '../support/world-paths.ts'

const app = useApp()
const ann = handle('ann')
const dan = handle('dan')
const cat = handle('cat')
const eve = handle('eve')
const newcomer = handle('newcomer')
const muter = handle('muter')
const world = new BlockedWorld([ann, dan, cat, eve])

/**
 * The field of accounts that the trial rule reads: it hides accounts whose counters were repaired.
 */
const factField = 'repairs'

/**
 * A rule for the test. A row that forbids another purpose would not compile: its callers lack the
 * fact.
 */
interface Trial {
  readonly purposes: readonly Purpose[]
  readonly facts: readonly (keyof Facts)[]
  readonly hides: (viewer: UserId | undefined, subject: Subject, facts: Facts) => boolean
}
const ofAccounts: Trial = {
  purposes: [
    ...(['TIMELINE', 'AUTHOR', 'POST', 'PERSON', 'LISTS'] as const),
    ...(['ENTRY', 'ACCOUNT', 'FOLLOW', 'SUGGESTION'] as const),
  ],
  facts: ['live'],
  hides: (viewer, { user }, { live }) => user !== viewer && factField in (live.get(user) ?? {}),
}
const ofPosts: Trial = {
  purposes: ['TIMELINE', 'POST'],
  facts: ['posts'],
  hides: (_, { post }, { posts }) => post !== undefined && posts.get(post)?.author === dan,
}

/** Does something while the table of rules has a further row. */
async function withRule<T>(trial: Trial, forbids: readonly Purpose[], run: () => Promise<T>) {
  const tables = forbids.map((purpose) => rulesFor(purpose) as unknown as unknown[])
  for (const rows of tables) rows.push(['TRIAL', trial])
  try {
    return await run()
  } finally {
    for (const rows of tables) rows.pop()
  }
}

/** The purposes for which a list shows users and posts. */
const listPurposes: Readonly<Record<string, readonly Purpose[]>> = {
  'User.followers': ['ENTRY'],
  'User.following': ['ENTRY'],
  'User.mutuals': ['ACCOUNT'],
  'Viewer.mutes': ['ACCOUNT'],
  'Viewer.suggestions': ['SUGGESTION'],
  'TimelineNews.authors': ['TIMELINE', 'AUTHOR'],
  'Query.timeline': ['TIMELINE', 'AUTHOR'],
}

/**
 * The purposes for which an object that belongs to a user is shown: the viewer must be allowed each
 * of them.
 */
function purposesOf({ place, object }: Shown, of: UserId, viewer: UserId | undefined): Purpose[] {
  const ref = findNodeRef(object.id)
  const purposes = [...(listPurposes[place] ?? [])]
  if (showsLists(object)) purposes.push('LISTS')
  if (ref?.type === 'Post') purposes.push('POST')
  if (ref?.type === 'User') {
    if (showsProfile(object)) purposes.push('PERSON')
    if (object.viewerCanFollow) purposes.push('FOLLOW')
  }
  if (ref?.type === 'Engagement') {
    const isBy = (user: UserId) => ref.key === user || object.text?.startsWith(`by ${user} `)
    if (isBy(of)) purposes.push('ENTRY')
    if (ref.post.author === of) purposes.push(viewer && isBy(viewer) ? 'ACCOUNT' : 'POST')
  }
  return purposes
}

/** What answers show of dan, and for which purposes. */
const shownIn = (found: readonly ReadPath[], viewer: UserId | undefined) =>
  found.flatMap(({ path, data }) => {
    const root = path.name.split('.')[0] ?? ''
    return objectsIn({ __typename: root, ...data }, root)
      .filter((shown) => belongsTo(shown, dan, viewer ?? cat))
      .map((shown) => ({ ...shown, path, purposes: purposesOf(shown, dan, viewer) }))
  })

/**
 * A follower of dan, one who sees dan among suggestions, one who muted dan, and an anonymous
 * client.
 */
const readers = [eve, newcomer, muter, undefined]
const queries = () => [...queryPaths(world, dan, cat), ...queryPaths(world, cat, dan)]
/**
 * Ann's mutations, so that the others still follow dan. No new post takes the place of dan's in the
 * first page.
 */
const mutations = () => mutationPaths(world, ann, dan, { without: /lockUser$|^createPost$/ })

const author = '__typename id handle name bio avatarUrl bannerUrl'
/** What the fast path answers, by the root field of the path that has the arguments. */
const planned: Readonly<Record<string, string>> = {
  timeline: `edges { node { __typename id text author { ${author} } } }`,
  timelineNews: `__typename authors { ${author} }`,
}

/** Reads of a follower of dan that the fast path answers, each a request of its own. */
async function readPlanned() {
  const found: ReadPath[] = []
  for (const [field, below] of Object.entries(planned)) {
    const path = queries().find((one) => rootOf(one) === field)
    if (!path) throw new Error(`no path begins at ${field}`)
    const selection = path.selection.replace(/\{.*/, `{ ${below} }`)
    found.push(...(await readPaths(app, eve, 'query', [{ ...path, selection }])))
  }
  return found
}

/**
 * A row that forbids some purposes shows on no path what it forbids. @param among the root fields.
 * Default: all.
 */
const hidesOnPaths = (among = /^/) =>
  fc.asyncProperty(
    fc
      .constantFrom(ofAccounts, ofAccounts, ofPosts)
      .chain((trial) =>
        fc.tuple(
          fc.constant(trial),
          fc.subarray([...trial.purposes], { minLength: 1, maxLength: 2 }),
        ),
      ),
    fc.constantFrom(...readers),
    fc.nat({ max: 3 }),
    async ([trial, forbids], reader, part) => {
      const some = <T>(paths: readonly T[]) => paths.filter((_, at) => at % 4 === part)
      const paths = queries().filter((path) => among.test(rootOf(path)))
      const isAll = among.test('followUser')
      const found = await withRule(trial, forbids, async () => ({
        read: await readPaths(app, reader, 'query', some(paths)),
        planned: isAll ? await readPlanned() : [],
        changed: isAll ? await readPaths(app, ann, 'mutation', some(mutations())) : [],
      }))
      const { read, planned, changed } = found
      const shown = [...shownIn(read, reader), ...shownIn(planned, eve), ...shownIn(changed, ann)]
      const leaks = shown.filter((one) => forbids.some((purpose) => one.purposes.includes(purpose)))
      expect(leaks.map(({ path, place, purposes }) => [path.name, place, purposes])).toEqual([])
      const codes = Object.values(found).flatMap((all) => all.flatMap((path) => path.codes))
      expect(codes).not.toContain('INTERNAL_SERVER_ERROR')
    },
  )

beforeAll(async () => {
  const fields = accountFields as unknown as string[]
  fields.push(factField)
  await world.create(app.services)
  const { follows, restrictions, collections } = app.services
  await openAccounts(app.services, [newcomer, muter])
  await follows.follow(newcomer, eve)
  await restrictions.mute(muter, dan)
  await collections.user_stats.updateOne({ _id: dan }, { $set: { [factField]: 1 } })
})
afterAll(() => {
  const fields = accountFields as unknown as string[]
  fields.pop()
})

test('without a rule, paths show a user for every purpose, and the fast path answers', async () => {
  const render = vi.spyOn(app.services.keptPosts, 'renderOnce')
  const shown = shownIn(await readPlanned(), eve)
  expect(render).toHaveBeenCalled()
  for (const reader of [eve, newcomer, muter]) {
    const paths = queries().filter((path) => reader === eve || rootOf(path) === 'viewer')
    shown.push(...shownIn(await readPaths(app, reader, 'query', paths), reader))
  }
  const places = new Set(shown.map(({ place }) => place))
  expect([...places]).toEqual(expect.arrayContaining(Object.keys(listPurposes)))
  const seen = new Set(shown.flatMap((one) => one.purposes))
  expect([...seen].sort()).toEqual([...ofAccounts.purposes].sort())
})

test(
  'a rule about accounts or posts hides on every path of the schema what it forbids',
  async () => {
    await fc.assert(hidesOnPaths(), { ...lawSeed(), numRuns: Math.min(lawRuns(12), 120) })
  },
  patient(600_000),
)

/** Holes by which rules lack what they decide by. */
const holes: Readonly<Record<string, () => unknown>> = {
  'what finds a user by handle makes the account itself': () =>
    vi.spyOn(Context.prototype, 'noteLive').mockImplementation(function (this: Context, users) {
      for (const _id of users) this.loaders.live.prime(_id, { _id } as unknown as Account)
    }),
  'a read of accounts leaves out a fact': () =>
    vi
      .spyOn(UserStats.prototype, 'liveAmong')
      .mockImplementation(
        async (users) => new Map(users.map((_id) => [_id, { _id } as unknown as Account])),
      ),
  'the authors decide about posts': () =>
    vi.spyOn(Visibility.prototype, 'shownAmong').mockImplementation(async function (
      this: Visibility,
      purpose,
      posts,
    ) {
      const authors = posts.map(({ author }) => author)
      const hidden = await this.hiddenAmong(purpose as UserPurpose, authors)
      return new Set(posts.flatMap(({ id, author }) => (hidden.has(author) ? [] : id)))
    }),
}

test.each(Object.keys(holes))(
  'the paths show a hole: %s',
  async (name) => {
    holes[name]?.()
    const outcome = await fc.check(hidesOnPaths(/^user$/), {
      ...lawSeed(),
      ...{ numRuns: 60, endOnFailure: true },
    })
    expect(outcome).toMatchObject({ failed: true, interrupted: false })
    expect(String(outcome.errorInstance)).toContain('AssertionError')
  },
  patient(300_000),
)
