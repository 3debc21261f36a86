import { feedStrategyNames } from '../src/timeline/strategies/list.ts'
import { type CheckContext, reportDuplicates } from './check.ts'
import { isAlive, type User } from './model.ts'
import { orderKeyOf, timelineDocument } from './read-timelines.ts'

/** A small page, so that reading to the end crosses buckets and leaves the cache. */
const pageSize = 40

/**
 * Reads one user's whole timeline under each strategy, in both directions, and compares it with law
 * L1.
 */
export async function checkTimelines(check: CheckContext, reader: User): Promise<void> {
  if (!isAlive(reader)) return
  const { journal, lists } = check
  const expected = expectedTimelineOf(check, reader)
  for (const strategy of feedStrategyNames) {
    for (const backwards of [false, true]) {
      const found = await lists.readAll(
        async (window) => {
          const variables = { strategy, ...window }
          const request = { document: timelineDocument, variables, viewer: reader.handle }
          return (await lists.sendQuery(request)).timeline
        },
        pageSize,
        backwards,
      )
      journal.timelines++
      const texts = found.map(({ text }) => String(text))
      if (texts.join() === expected.join()) continue
      const foundTexts = new Set(texts)
      const expectedTexts = new Set(expected)
      const missing = expected.filter((text) => !foundTexts.has(text))
      const extra = texts.filter((text) => !expectedTexts.has(text))
      const direction = backwards ? 'backwards' : 'forwards'
      const detail = `at rest ${strategy} ${direction} of ${reader.handle}: lacks ${missing.slice(0, 10)} (${missing.length}), has ${extra.slice(0, 10)} (${extra.length}) too many, ${texts.length - foundTexts.size} duplicates, of ${expected.length}`
      const atMs = check.model.posts.get(missing[0] ?? extra[0] ?? '')?.live.lastAcknowledgedMs
      journal.recordViolation('wrongTimelines', atMs ?? performance.now(), detail)
    }
  }
  const liked = await lists.readField({
    root: `user(handle: "${reader.handle}")`,
    type: 'User',
    list: 'likedPosts',
    node: 'text',
  })
  const texts = reportDuplicates(
    check,
    liked.map(({ text }) => String(text)),
    `likedPosts of ${reader.handle}`,
  )
  for (const post of check.model.posts.values()) {
    const now = performance.now()
    const isLiked = post.likes.get(reader.handle)?.certainValue(now, now) === true
    const isExpected = isLiked && check.model.isLive(post, now, now) === true
    if (isExpected === texts.has(post.text)) continue
    const detail = `likedPosts of ${reader.handle} ${isExpected ? 'lacks' : 'has'} ${post.text}`
    journal.recordViolation('drift', now, detail)
  }
}

/** The texts of the posts that law L1 demands in a timeline, newest first. */
function expectedTimelineOf({ model }: CheckContext, reader: User): string[] {
  const now = performance.now()
  const authors = [reader.handle, ...reader.follows.keys()].flatMap((handle) => {
    const author = model.users.get(handle)
    return author && model.isAuthorVisible(reader, author, now, now) ? [author] : []
  })
  return authors
    .flatMap((author) => [...author.posts.values()].filter(isAlive))
    .flatMap(({ id, text }) => (id === undefined ? [] : [{ order: orderKeyOf(id), text }]))
    .sort((a, b) => (a.order < b.order ? 1 : -1))
    .map(({ text }) => text)
}
