import { feedStrategyNames } from '../src/feed/strategies/list.ts'
import { type Check, reportTwice } from './check.ts'
import { isAlive, type User } from './model.ts'
import { orderOf, timelineDocument } from './reads.ts'

/** Small enough that walks cross buckets and leave the cache. */
const pageSize = 40

/** Walks one user's timeline under every strategy, both ways, and compares it with law L1. */
export async function checkTimelines(check: Check, reader: User): Promise<void> {
  if (!isAlive(reader)) return
  const { journal, lists } = check
  const expected = timelineOf(check, reader)
  for (const strategy of feedStrategyNames) {
    for (const backwards of [false, true]) {
      const found = await lists.walk(
        async (window) => {
          const variables = { strategy, ...window }
          const request = { document: timelineDocument, variables, viewer: reader.handle }
          return (await lists.query(request)).timeline
        },
        pageSize,
        backwards,
      )
      journal.timelines++
      const texts = found.map(({ text }) => String(text))
      if (texts.join() === expected.join()) continue
      const seen = new Set(texts)
      const demanded = new Set(expected)
      const lacks = expected.filter((text) => !seen.has(text))
      const extra = texts.filter((text) => !demanded.has(text))
      const way = backwards ? 'backwards' : 'forwards'
      const detail = `at rest ${strategy} ${way} of ${reader.handle}: lacks ${lacks.slice(0, 10)} (${lacks.length}), holds ${extra.slice(0, 10)} (${extra.length}) too many, ${texts.length - seen.size} twice, of ${expected.length}`
      const atMs = check.model.posts.get(lacks[0] ?? extra[0] ?? '')?.live.lastMs
      journal.violate('wrongTimelines', atMs ?? performance.now(), detail)
    }
  }
  const liked = await lists.ofField({
    root: `user(handle: "${reader.handle}")`,
    type: 'User',
    list: 'likedPosts',
    node: 'text',
  })
  const texts = reportTwice(
    check,
    liked.map(({ text }) => String(text)),
    `likedPosts of ${reader.handle}`,
  )
  for (const post of check.model.posts.values()) {
    const now = performance.now()
    const isLiked = post.likes.get(reader.handle)?.certain(now, now) === true
    const demanded = isLiked && check.model.isLive(post, now, now) === true
    if (demanded === texts.has(post.text)) continue
    const detail = `likedPosts of ${reader.handle} ${demanded ? 'lacks' : 'holds'} ${post.text}`
    journal.violate('drift', now, detail)
  }
}

/** The texts of a timeline as law L1 defines it, newest first. */
function timelineOf({ model }: Check, reader: User): string[] {
  const now = performance.now()
  const authors = [reader.handle, ...reader.follows.keys()].flatMap((handle) => {
    const author = model.users.get(handle)
    return author && model.isShown(reader, author, now, now) ? [author] : []
  })
  return authors
    .flatMap((author) => [...author.posts.values()].filter(isAlive))
    .flatMap(({ id, text }) => (id === undefined ? [] : [{ order: orderOf(id), text }]))
    .sort((one, other) => (one.order < other.order ? 1 : -1))
    .map(({ text }) => text)
}
