import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import type { Account } from '../../src/db/collections.ts'
import type { Context } from '../../src/graphql/context.ts'
import { Plans } from '../../src/graphql/fast-path/plans.ts'
import { createSchema } from '../../src/graphql/schema.ts'
import type { Handle, PostId, TimeId, UserId } from '../../src/lib/ids.ts'
import { ProcessMemory } from '../../src/memory/process-memory.ts'
import { KeptPosts } from '../../src/posts/kept-posts.ts'
import type { TimelineItem } from '../../src/timeline/pages/page.ts'
import type { KeptAccount } from '../../src/users/kept-accounts.ts'
import { provenAccount } from '../../src/users/stats.ts'

const schema = createSchema()
const author = 'ada' as UserId
const profile = { id: author, handle: 'ada' as Handle, name: 'Ada', createdAt: new Date(0) }
const account: KeptAccount = { account: provenAccount(author) as Account, profile }
const post = {
  ...{ id: '0123456789abcdef01234567' as PostId, author, text: 'hello' },
  ...{ createdAt: new Date(0), attachments: [], facets: [] },
}

/** Posts in memory, with a count of what was rendered. */
function keptPosts() {
  const memory = new ProcessMemory()
  Object.defineProperty(memory, 'position', { value: {} })
  const kept = new KeptPosts({ memory, bytesMax: 1_000_000 })
  using filling = kept.beginFilling()
  filling.keep(post as never)
  let rendered = 0
  /** Answers a document by its plan. */
  const answer = async (text: string) => {
    const document = parse(text)
    const item: TimelineItem = {
      at: post.id as TimeId,
      post: post as never,
      by: author,
      reason: 'POSTED',
    }
    const live = new Map([[author, account.account]])
    const accounts = new Map([[author, account]])
    const posts = new Map([[post.id, post]])
    const facts = [{ accounts, live, posts, followed: new Set(), restrictions: new Map() }]
    const services = {
      feed: { checkRequest: () => ({}), timeline: async () => ({ items: [item], facts }) },
      keptPosts: {
        renderOnce: (...[ref, by, key, render]: Parameters<KeptPosts['renderOnce']>) =>
          kept.renderOnce(ref, by, key, () => {
            rendered++
            return render()
          }),
      },
    }
    const plan = new Plans(schema).find(document, undefined)
    const prepared = plan && 'prepare' in plan ? plan.prepare({}, services as never) : undefined
    const body = (await prepared?.answer({ viewer: author } as Context, author)) ?? ''
    // Equal answers of different documents may differ in cost.
    return {
      body: body.replace(/,"extensions":.*/s, ''),
      nodes: document.definitions.map((one) => new WeakRef(one)),
    }
  }
  return { kept, answer, renderings: () => rendered }
}

const documentOf = (selection: string, rest = '') =>
  `{ timeline { edges { node ${selection} } } } ${rest}`

describe('the text of a post in answers', () => {
  test('keeps nothing of the document that asked for it', async () => {
    setFlagsFromString('--expose-gc')
    const collectGarbage = runInNewContext('gc') as () => void
    const { kept, answer } = keptPosts()
    const { body, nodes } = await answer(
      documentOf(
        '{ ...P }',
        'fragment P on Post { text facets { tag } author { ...A } } fragment A on User { name }',
      ),
    )
    expect(body).toContain('{"text":"hello","facets":[],"author":{"name":"Ada"}}')
    // Until then, what a WeakRef was made of is not collected.
    await setImmediate()
    collectGarbage()
    expect(nodes.filter((node) => node.deref())).toEqual([])
    expect(kept.get(post)).toBe(post)
  })

  test('is rendered once for equal selections of different documents', async () => {
    const { answer, renderings } = keptPosts()
    const bodies = await Promise.all(
      [
        documentOf('{ id author { handle name } }'),
        documentOf(
          '{ ... { id } ...P }',
          'fragment P on Post { author { handle } author { name } }',
        ),
      ].map(answer),
    )
    expect(bodies[0]?.body).toBe(bodies[1]?.body)
    expect(renderings()).toBe(1)
  })

  test.each([
    ['another order', '{ id text }', '{ text id }'],
    ['an alias', '{ id text }', '{ id a: text }'],
    ['another field under the same name', '{ a: id }', '{ a: text }'],
    ['another selection below a field', '{ author { id } text }', '{ author { id name } text }'],
    ['a field at another depth', '{ author { name } id }', '{ author { name id } }'],
    ['a count in another place', '{ likeCount text }', '{ text likeCount }'],
  ])('differs with %s', async (_, one, other) => {
    const { answer } = keptPosts()
    const fresh = keptPosts()
    await answer(documentOf(one))
    expect((await answer(documentOf(other))).body).toBe(
      (await fresh.answer(documentOf(other))).body,
    )
  })
})
