import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { edgesOf, TimelineScene, withResolvers } from '../support/timeline-scene.ts'

test('a poll announces the new posts of others, and shows them when asked', async () => {
  const scene = new TimelineScene().open()
  scene.posts.unshift('2', '1')
  await scene.watch.poll()
  expect(scene.announced).toBe(2)
  expect(scene.shown).toEqual(['old'])
  await scene.watch.show()
  expect(scene.shown).toEqual(['2', '1', 'old'])
  expect(scene.announced).toBe(0)
})

test('new posts are read page by page until none is left', async () => {
  const scene = new TimelineScene().open()
  const added = Array.from({ length: 120 }, (_, n) => `new ${120 - n}`)
  scene.posts.unshift(...added)
  await scene.watch.poll()
  expect(scene.watch.announcement()).toEqual({ count: 20, hasMore: true })
  await scene.watch.show()
  expect(scene.shown).toEqual([...added, 'old'])
})

test('an own post is read without being announced, so that the next cursor covers it', async () => {
  const scene = new TimelineScene().open()
  await scene.publish('own')
  await scene.watch.poll()
  expect([scene.announced, scene.shown]).toEqual([0, ['own', 'old']])
  expect(scene.list?.pollCursor).toBe('own,old')
})

test('an own post that another app deletes before the next poll disappears, and posts of others are announced', async () => {
  const scene = new TimelineScene().open()
  await scene.publish('own')
  scene.deleteOnServer('own')
  await scene.watch.poll()
  expect(scene.shown).toEqual(['old'])
  expect(scene.sent).toEqual(['poll old', '{"first":20}'])
  scene.posts.unshift('by bob')
  await scene.watch.poll()
  expect(scene.announced).toBe(1)
})

test('an own post that another app deletes after a poll disappears at the next one', async () => {
  const scene = new TimelineScene().open()
  await scene.publish('own')
  await scene.watch.poll()
  scene.deleteOnServer('own')
  await scene.watch.poll()
  expect(scene.shown).toEqual(['old'])
})

test('an own post that another app deletes while posts of others are announced disappears at the next poll', async () => {
  const scene = new TimelineScene().open()
  await scene.publish('own')
  scene.posts.unshift('2 by bob', '1 by bob')
  await scene.watch.poll()
  expect(scene.announced).toBe(2)
  scene.deleteOnServer('own')
  await scene.watch.poll()
  expect(scene.shown).toEqual(['2 by bob', '1 by bob', 'old'])
})

test('a post of another that comes when an own one is deleted does not keep the own one', async () => {
  const scene = new TimelineScene().open()
  await scene.publish('own')
  scene.deleteOnServer('own')
  scene.posts.unshift('by bob')
  await scene.watch.poll()
  expect(scene.shown).toEqual(['by bob', 'old'])
})

test('an own post that this app deletes is not subtracted from the posts of others', async () => {
  const scene = new TimelineScene().open()
  await scene.publish('own')
  scene.deleteOnServer('own')
  scene.list = scene.list && { ...scene.list, edges: edgesOf(['old']) }
  scene.posts.unshift('by bob')
  await scene.watch.poll()
  expect([scene.announced, scene.sent.length]).toEqual([1, 1])
})

test('a list that the app reads again covers own posts, so the next post of another is announced', async () => {
  const scene = new TimelineScene().open()
  await scene.publish('own')
  scene.posts.push('by a new followee')
  scene.open()
  scene.posts.unshift('by bob')
  await scene.watch.poll()
  expect(scene.announced).toBe(1)
})

test('an announcement ends when the app reads the list again', async () => {
  const scene = new TimelineScene().open()
  scene.posts.unshift('by bob')
  await scene.watch.poll()
  scene.open()
  expect(scene.announced).toBe(0)
})

test('a post that is published before the first page has come is not subtracted from posts of others', async () => {
  const scene = new TimelineScene()
  await scene.publish('own')
  await scene.watch.poll()
  scene.open()
  scene.posts.unshift('by bob')
  await scene.watch.poll()
  expect([scene.announced, scene.shown]).toEqual([1, ['own', 'old']])
})

test('a post that a read brings before its mutation has answered is not subtracted from posts of others', async () => {
  const scene = new TimelineScene().open()
  const { promise, resolve } = withResolvers()
  const publication = scene.publish('own', promise)
  await scene.watch.show()
  resolve()
  await publication
  scene.posts.unshift('by bob')
  await scene.watch.poll()
  expect([scene.announced, scene.shown]).toEqual([1, ['own', 'old']])
})

test('a poll says nothing while a post is being published, because its answer may count that post', async () => {
  const scene = new TimelineScene().open()
  const { promise, resolve } = withResolvers()
  const publication = scene.publish('own', promise)
  await scene.watch.poll()
  expect(scene.announced).toBe(0)
  resolve()
  await publication
  await scene.watch.poll()
  expect([scene.announced, scene.shown]).toEqual([0, ['own', 'old']])
})

test('a poll answered after a publication does not take the own post for deleted', async () => {
  const scene = new TimelineScene().open()
  const release = scene.hold()
  const poll = scene.watch.poll()
  await scene.publish('own')
  await release()
  await poll
  expect([scene.shown, scene.sent.length]).toEqual([['own', 'old'], 1])
})

test('a publication that fails counts no own post', async () => {
  const scene = new TimelineScene().open()
  const failed = scene.watch.publish(() => Promise.reject(new Error('no answer')))
  await expect(failed).rejects.toThrow('no answer')
  scene.posts.unshift('by bob')
  await scene.watch.poll()
  expect(scene.announced).toBe(1)
})

test('a late answer to a poll does not announce posts that were shown since', async () => {
  const scene = new TimelineScene().open()
  scene.posts.unshift('1')
  await scene.watch.poll()
  const release = scene.hold(/poll/)
  const poll = scene.watch.poll()
  await scene.watch.show()
  await release()
  await poll
  scene.posts.unshift('2')
  await scene.watch.poll()
  expect([scene.announced, scene.shown]).toEqual([1, ['1', 'old']])
  expect(scene.sent.at(-1)).toBe('poll 1,old')
})

test('a late answer to a poll says nothing about a list that was read again', async () => {
  const scene = new TimelineScene().open()
  scene.posts.unshift('1')
  const release = scene.hold()
  const poll = scene.watch.poll()
  scene.open()
  await release()
  await poll
  expect(scene.announced).toBe(0)
})

test('new posts that were read for a list that was read again are dropped', async () => {
  const scene = new TimelineScene().open()
  scene.posts.unshift('1')
  const release = scene.hold()
  const show = scene.watch.show()
  scene.posts.unshift('2')
  scene.open()
  await release()
  await show
  expect(scene.shown).toEqual(['2', '1', 'old'])
})

test('a list that was read after a change is dropped if the app itself has read it again', async () => {
  const scene = new TimelineScene().open()
  scene.posts = ['1']
  const release = scene.hold(/first/)
  const poll = scene.watch.poll()
  await eventually(() => expect(scene.sent).toContain('{"first":20}'))
  scene.posts = ['2', '1']
  scene.open()
  await release()
  await poll
  expect(scene.shown).toEqual(['2', '1'])
})

test('a post that is published while the list is read again stays, and is not announced', async () => {
  const scene = new TimelineScene().open()
  scene.posts = ['other']
  const release = scene.hold(/first/)
  const poll = scene.watch.poll()
  await eventually(() => expect(scene.sent).toContain('{"first":20}'))
  await scene.publish('own')
  await release()
  await poll
  expect(scene.shown).toEqual(['own', 'other'])
  scene.posts.unshift('by bob')
  await scene.watch.poll()
  expect(scene.announced).toBe(1)
})

test('a post that is published while new posts are read stays, and is not announced', async () => {
  const scene = new TimelineScene().open()
  scene.posts.unshift('1')
  const release = scene.hold()
  const show = scene.watch.show()
  await scene.publish('own')
  await release()
  await show
  await scene.watch.poll()
  expect([scene.announced, [...scene.shown].sort()]).toEqual([0, ['1', 'old', 'own']])
})

test('the own posts of one timeline are not those of another', async () => {
  const home = new TimelineScene().open()
  const group = new TimelineScene().open()
  await home.publish('own')
  group.posts.unshift('1')
  await group.watch.poll()
  await group.watch.show()
  await home.watch.poll()
  expect([group.shown, home.announced]).toEqual([['1', 'old'], 0])
})

test.each([
  [3, 20],
  [70, 70],
  [500, 200],
])('a change with %i posts held reads %i of them again, at most 50 at once', async (held, read) => {
  const scene = new TimelineScene()
  scene.posts = Array.from({ length: 600 }, (_, n) => `post ${n}`)
  scene.open(held)
  scene.deleteOnServer('post 1')
  await scene.watch.poll()
  expect(scene.shown).toEqual(scene.posts.slice(0, read))
  const sizes = scene.sent.slice(1).map((asked) => JSON.parse(asked).first)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(50)
})

test('a second attempt to publish a post that the list has had since the first does not count it as own', async () => {
  const scene = new TimelineScene().open()
  scene.posts.unshift('own')
  await scene.watch.show()
  await scene.watch.publish(() => Promise.resolve('own'))
  scene.posts.unshift('by bob')
  await scene.watch.poll()
  expect([scene.announced, scene.shown]).toEqual([1, ['own', 'old']])
})
