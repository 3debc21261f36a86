import { ObjectId } from 'mongodb'
import { expect, test } from 'vitest'
import { toPost } from '../../src/posts/post.ts'

const toPostWith = (attachments: unknown) =>
  toPost({ _id: new ObjectId(), author: 'ann', text: 'Hello', attachments } as never)

test.each([[false], [Number.NaN], [0], [''], ['a'], [[1]]])(
  'a post whose attachments are %s cannot be shown',
  (attachments) => {
    expect(toPostWith(attachments)).toBeUndefined()
  },
)

test.each([[undefined], [null], [[]]])(
  'a post whose attachments are %s has none',
  (attachments) => {
    expect(toPostWith(attachments)?.attachments).toEqual([])
  },
)
