import { describe, expect, test } from 'vitest'
import { engagementKinds } from '../../src/engagement/kinds.ts'
import type { PostRef, UserId } from '../../src/lib/ids.ts'
import { describeOutlierList } from '../conformance/engagement.ts'
import { outcomeOf } from '../laws/model/model.ts'
import { engagementProblems, sameLimits, walked } from '../support/engagement.ts'
import { joblessRun } from '../support/jobless-run.ts'
import { failCommand } from '../support/mongo.ts'
import { share } from '../support/repetition.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

// All kinds share one mechanism: by day each kind has one of the thresholds, and each threshold one
// kind. `npm test` tries one kind.
for (const [n, kind] of share(1, [...engagementKinds.entries()])) {
  for (const threshold of share(3, [0, 1, 3], n))
    describeOutlierList(kind, { threshold, capacity: 2 })
}

describe('engagement', () => {
  const limits = { threshold: 1, capacity: 2 }
  const harness = useServices('collection', sameLimits(limits))
  let scenes = 0

  async function scene() {
    const prefix = `e${scenes++}-`
    const users = ['ann', 'ben', 'carl', 'dora'].map((name) => handle(prefix + name))
    const [ann, ben, carl, dora] = users as [UserId, UserId, UserId, UserId]
    await openAccounts(harness.services, users)
    const { id } = await harness.services.posts.create(ann, { text: 'hello' })
    const post: PostRef = { id, author: ann }
    return { post, ann, ben, carl, dora, users }
  }

  test('a comment is deleted by its author or the post’s author, and by no one else', async () => {
    const { post, ann, ben, carl, dora } = await scene()
    const { engagements } = harness.services
    for (const who of [ben, ann]) {
      for (let place = 0; place < 4; place++)
        await engagements.add('comments', dora, post, { text: `${place}` })
      const { id } = (await engagements.add('comments', ben, post, { text: 'mine' })).entry
      const comment = { kind: 'comments', post, id } as const
      expect(await outcomeOf(engagements.removeById(comment, carl))).toBe('FORBIDDEN')
      expect(await outcomeOf(engagements.removeById(comment, dora))).toBe('FORBIDDEN')
      expect((await walked(harness.services, 'comments', post))[0]?.id).toBe(id)
      const gone = await engagements.removeById(comment, who)
      expect(gone).toMatchObject({ changed: true, entry: { id, actor: ben, text: 'mine' } })
      expect(await outcomeOf(engagements.removeById(comment, carl))).toBe('unchanged')
    }
    expect(await engagementProblems(harness.services, limits, [post])).toEqual([])
  })

  test('a comment’s text obeys the rules of posts and is stored in its normal form', async () => {
    const { post, ben } = await scene()
    const { engagements } = harness.services
    for (const text of ['', ' \n', 'x'.repeat(301), '\ud800', 'a\u0000b']) {
      expect(await outcomeOf(engagements.add('comments', ben, post, { text }))).toBe(
        'BAD_USER_INPUT',
      )
    }
    const texts = ['x'.repeat(300), '$actor', '$$ROOT {"$ne": 1}', 'e\u0301', '👩‍👩‍👧'.repeat(80)]
    for (const text of texts) {
      expect((await engagements.add('comments', ben, post, { text })).entry.text).toBe(
        text.normalize('NFC'),
      )
    }
    const seen = (await walked(harness.services, 'comments', post)).map(({ text }) => text)
    expect(seen.reverse()).toEqual(texts.map((text) => text.normalize('NFC')))
    expect(await engagementProblems(harness.services, limits, [post])).toEqual([])
  })

  test('the viewer’s likes and shares of a page of posts are found in posts and in overflow', async () => {
    const scenes = [await scene(), await scene(), await scene(), await scene()]
    const { engagements, engagementReader } = harness.services
    const posts = scenes.map(({ post }) => post)
    const [bare, inPost, beyond, shared] = posts as [PostRef, PostRef, PostRef, PostRef]
    const { ben: viewer, users } = scenes[0] as (typeof scenes)[0]
    for (const user of users) if (user !== viewer) await engagements.add('likes', user, beyond)
    for (const post of [inPost, beyond]) await engagements.add('likes', viewer, post)
    for (const user of users) await engagements.add('shares', user, shared)
    await engagements.add('comments', viewer, bare, { text: 'no like' })
    const found = await engagementReader.entries(['likes', 'shares'], posts, [viewer])
    expect(found.map(({ kind, post, actor }) => `${kind} ${post.id} ${actor}`).sort()).toEqual(
      [
        `likes ${inPost.id} ${viewer}`,
        `likes ${beyond.id} ${viewer}`,
        `shares ${shared.id} ${viewer}`,
      ].sort(),
    )
    expect(await engagementReader.entries(['likes', 'shares'], posts, [handle('nobody')])).toEqual(
      [],
    )
  })

  test('each kind of engagement has its own list on the same post', async () => {
    const { post, users } = await scene()
    const { engagements } = harness.services
    await Promise.all(
      users.flatMap((user) => [
        engagements.add('likes', user, post),
        engagements.add('shares', user, post),
        engagements.add('comments', user, post, { text: 'hello' }),
      ]),
    )
    await engagements.remove('likes', users[0] as UserId, post)
    const found = (await harness.services.posts.byRefs([post])).get(post.id)
    expect(found).toMatchObject({ likeCount: 3, commentCount: 4, shareCount: 4 })
    expect(await engagementProblems(harness.services, limits, [post])).toEqual([])
  })

  test('the engagement of a deleted user is removed, also if it arrives after the deletion', async () => {
    const { post, ben } = await scene()
    const { client } = harness.database
    const { engagements, users } = harness.services
    await using _ = await failCommand(client, {
      failCommands: ['update'],
      times: 1,
      blockMs: 1_500,
    })
    const begun = commandOn('posts')
    const late = engagements.add('likes', ben, post)
    await begun
    await users.delete(ben)
    const pause = await harness.services.tasks['user.deleted']?.({ user: ben }, joblessRun())
    expect(pause).toEqual({ continuesInMs: expect.any(Number) })
    expect(await late).toMatchObject({ changed: true })
    expect(await walked(harness.services, 'likes', post)).toHaveLength(1)

    await harness.rest()
    expect(await walked(harness.services, 'likes', post)).toEqual([])
    expect(
      await harness.services.collections.engagements_by_user.countDocuments({ user: ben }),
    ).toBe(0)
    expect(await engagementProblems(harness.services, limits, [post])).toEqual([])
  })

  /** Resolves when the client begins a command on a collection. */
  const commandOn = (collection: string) =>
    new Promise<void>((resolve) => {
      const { client } = harness.database
      const listener = ({ commandName, command }: { commandName: string; command: object }) => {
        if ((command as Record<string, unknown>)[commandName] !== collection) return
        client.off('commandStarted', listener)
        resolve()
      }
      client.on('commandStarted', listener)
    })
})
