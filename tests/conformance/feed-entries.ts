import { expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { type PostId, timeOf, type UserId } from '../../src/lib/ids.ts'
import type { FeedFixture } from '../support/feed-fixture.ts'

/** The content of posts in pages and in entries: linking, or embedding. */
export function describeFeedEntries(fixture: FeedFixture): void {
  const { page, strategy } = fixture

  async function scene() {
    const { reader, author } = await fixture.people('reader', 'author')
    await page(reader)
    await fixture.follow(reader, author)
    await fixture.rest()
    const [long, odd] = ['x'.repeat(300), '$text {"$ne": 1} 👩‍👩‍👧']
    const posts = [
      { id: await fixture.post(author, long), author, text: long },
      { id: await fixture.post(reader, odd), author: reader, text: odd },
    ].reverse()
    await fixture.rest()
    return { reader, author, posts }
  }

  test(`a page has the selected content of its posts, in its current state (${strategy})`, async () => {
    const { reader, author, posts } = await scene()
    const { engagements } = fixture.services
    for (const who of [reader, author]) await engagements.add('likes', who, posts[1] as Post)
    await engagements.add('comments', reader, posts[0] as Post, { text: 'a comment' })
    const of = async (projection: 'ref' | 'text' | 'content') =>
      (await page(reader, {}, { projection })).items
    expect(await of('ref')).toMatchObject(posts.map(({ id, author }) => ({ id, author })))
    expect(await of('text')).toMatchObject(posts)
    const counts = [
      { likeCount: 0, commentCount: 1, shareCount: 0 },
      { likeCount: 2, commentCount: 0, shareCount: 0 },
    ]
    const whole = posts.map((post, n) => {
      return { ...post, ...counts[n], attachments: [], facets: [], createdAt: timeOf(post.id) }
    })
    expect(await of('content')).toEqual(whole)
  })

  test(`an entry has the configured content, however it was stored (${strategy})`, async () => {
    const { reader, posts } = await scene()
    const { late } = await fixture.people('late')
    await page(late)
    for (const { author } of posts) await fixture.follow(late, author)
    await fixture.rest()
    const kept = ({ id, author, text }: Post) => ({
      post: toObjectId(id),
      ...(fixture.entries === 'id' ? {} : { author }),
      ...(fixture.entries === 'text' ? { text } : {}),
    })
    const all = fixture.strategy === 'FANOUT_ON_READ' ? [] : posts.map(kept)
    for (const whose of [reader, late]) expect(await fixture.entriesOf(whose)).toEqual(all)
  })

  interface Post {
    readonly id: PostId
    readonly author: UserId
    readonly text: string
  }
}
