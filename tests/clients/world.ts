import { toObjectId } from '../../src/db/object-id.ts'
import type { PostId, PostRef } from '../../src/lib/ids.ts'
import type { TestApp } from '../support/app.ts'
import { handle, openAccounts } from '../support/services.ts'

let numbers = 0
/** Of one length, so that requests have the same bytes in each run. */
const nextNumber = (): string => String(++numbers).padStart(3, '0')

/** A handle that no test has used, and no first try of this one. */
export const newHandle = (name: string): string => name + nextNumber()

/** Users of one test, who know no one else, and what they do in other apps. */
export interface World {
  readonly alice: string
  readonly bob: string
  readonly carol: string
  /** Publishes posts one after the other. */
  readonly write: (author: string, texts: readonly string[]) => Promise<PostRef[]>
  /** Stores many posts at once, the last one newest, before anyone reads. */
  readonly fill: (author: string, texts: readonly string[]) => Promise<void>
}

/** Opens three accounts. Alice follows Bob and Carol. */
export async function createWorld({ services }: TestApp): Promise<World> {
  const number = nextNumber()
  const [alice, bob, carol] = ['alice', 'bob', 'carol'].map((name) => handle(`${name}${number}`))
  if (!alice || !bob || !carol) throw new Error('three users')
  await openAccounts(services, [alice, bob, carol])
  for (const followee of [bob, carol]) await services.follows.follow(alice, followee)
  const write = async (author: string, texts: readonly string[]) => {
    const posts: PostRef[] = []
    for (const text of texts) posts.push(await services.posts.create(handle(author), { text }))
    return posts
  }
  const fill = async (author: string, texts: readonly string[]) => {
    const documents = texts.map((text) => {
      return { _id: toObjectId(services.mint.next<PostId>()), author: handle(author), text }
    })
    await services.collections.posts.insertMany(documents)
  }
  return { alice, bob, carol, write, fill }
}

/** `post 3`, `post 2`, `post 1`: texts in the order of a timeline. */
export const numbered = (count: number, name = 'post'): string[] =>
  Array.from({ length: count }, (_, n) => `${name} ${count - n}`)
