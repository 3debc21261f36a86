import { expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { type PostId, timeOf, type UserId } from '../../src/lib/ids.ts'
import type { FeedStage } from './feed-stage.ts'

/** The contents of posts on pages and in entries (seed 1: linking, embedding). */
export function describeFeedEntries(stage: FeedStage): void {
  const { page } = stage

  async function scene() {
    const { reader, author } = await stage.people('reader', 'author')
    await page(reader)
    await stage.follow(reader, author)
    await stage.rest()
    const [long, odd] = ['x'.repeat(300), '$text {"$ne": 1} 👩‍👩‍👧']
    const posts = [
      { id: await stage.post(author, long), author, text: long },
      { id: await stage.post(reader, odd), author: reader, text: odd },
    ].reverse()
    await stage.rest()
    return { reader, author, posts }
  }

  test('a page contains the requested, current part of each post', async () => {
    const { reader, author, posts } = await scene()
    const { engagements } = stage.services
    for (const who of [reader, author]) await engagements.add('likes', who, posts[1] as Post)
    await engagements.add('comments', reader, posts[0] as Post, { text: 'a comment' })
    const of = async (projection: 'ref' | 'text' | 'content') =>
      (await page(reader, {}, { projection })).items
    expect(await of('ref')).toEqual(posts.map(({ id, author }) => ({ id, author })))
    expect(await of('text')).toMatchObject(posts)
    const counts = [
      { likeCount: 0, commentCount: 1, shareCount: 0 },
      { likeCount: 2, commentCount: 0, shareCount: 0 },
    ]
    const whole = posts.map((post, n) => {
      return { ...post, ...counts[n], attachments: [], createdAt: timeOf(post.id) }
    })
    expect(await of('content')).toEqual(whole)
  })

  test('a delivered or back-filled entry has the configured contents', async () => {
    const { reader, posts } = await scene()
    const { late } = await stage.people('late')
    await page(late)
    for (const { author } of posts) await stage.follow(late, author)
    await stage.rest()
    const kept = ({ id, author, text }: Post) => ({
      post: toObjectId(id),
      ...(stage.entries === 'id' ? {} : { author }),
      ...(stage.entries === 'text' ? { text } : {}),
    })
    const all = stage.strategy === 'FANOUT_ON_READ' ? [] : posts.map(kept)
    for (const whose of [reader, late]) expect(await stage.entriesOf(whose)).toEqual(all)
  })

  interface Post {
    readonly id: PostId
    readonly author: UserId
    readonly text: string
  }
}
