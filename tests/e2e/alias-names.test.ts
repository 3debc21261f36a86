import { beforeAll, describe, expect, test } from 'vitest'
import { postNodeId } from '../../src/graphql/node-id.ts'
import type { PostRef } from '../../src/lib/ids.ts'
import { useApp } from '../support/app.ts'
import { handle, namesOf, openAccounts } from '../support/services.ts'

const app = useApp({ FEED_STRATEGY: 'INBOX' })
const [viewer, author, blocker] = [handle('viewer'), handle('author'), handle('blocker')]
/** The names that every object of JavaScript has. A client may choose each as an alias. */
const names = Object.getOwnPropertyNames(Object.prototype)
let post: PostRef

beforeAll(async () => {
  const { users, follows, posts, engagements, restrictions } = app.services
  await openAccounts(app.services, [viewer, author])
  await users.create(blocker, { ...namesOf(blocker), name: 'A secret name', bio: 'A secret bio' })
  await follows.follow(viewer, author)
  post = await posts.create(author, { text: 'hello' })
  await engagements.add('likes', viewer, post)
  await restrictions.block(blocker, viewer)
  await app.rest()
})

describe.each(names)('the alias %s', (name) => {
  const ask = async (query: string) => {
    const { data, errors } = await app.send({ as: viewer, query })
    expect(errors).toEqual([])
    return data
  }

  test('shows no more of a user that a block hides', async () => {
    const data = await ask(
      `{ user(handle: "blocker") { createdAt ${name}: name } other: user(handle: "blocker") { handle ${name}: bio } }`,
    )
    expect(Object.values(data.user)).toContain('blocker')
    expect(JSON.stringify(data)).not.toContain('secret')
  })

  test('has the values of its field at every depth', async () => {
    const data = await ask(
      `{ ${name}: user(handle: "author") { ${name}: posts { ${name}: edges { ${name}: node { ${name}: likeCount } } } } }`,
    )
    let here: unknown = data
    for (let depth = 0; depth < 5; depth++) {
      here = Object.getOwnPropertyDescriptor(here, name)?.value
      if (Array.isArray(here)) here = here[0]
    }
    expect(here).toBe(1)
  })

  test('is current on a page that repeats', async () => {
    const query = `{ timeline { edges { node { id likeCount ${name}: viewerHasLiked } } } }`
    const shownValue = async () => {
      const { node } = (await ask(query)).timeline.edges[0]
      return Object.getOwnPropertyDescriptor(node, name)?.value
    }
    for (let times = 0; times < 4; times++) expect(await shownValue()).toBe(true)
    await app.services.engagements.remove('likes', viewer, post)
    expect(await shownValue()).toBe(false)
    await app.services.engagements.add('likes', viewer, post)
    expect(await shownValue()).toBe(true)
    const { node } = await ask(
      `{ node(id: "${postNodeId(post)}") { ... on Post { ${name}: text } } }`,
    )
    expect(Object.getOwnPropertyDescriptor(node, name)?.value).toBe('hello')
  })
})
