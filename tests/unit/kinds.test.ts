import { describe, expect, expectTypeOf, test } from 'vitest'
import { catalogue } from '../../src/db/collections.ts'
import { type KindRow, kinds, kindsKeyedBy } from '../../src/engagement/kinds.ts'

const rows: readonly KindRow[] = Object.values(kinds)

describe('the table of engagement kinds', () => {
  test.each<[string, (row: KindRow) => readonly (string | null | undefined)[]]>([
    ['type', ({ node }) => [node.type]],
    ['field of Post', ({ public: shown, viewer }) => [shown?.count.field, viewer?.field]],
    ['list of posts', ({ posts }) => [posts?.type, posts && `${posts.of}.${posts.field}`]],
    ['mutation', ({ add, remove }) => [add.mutation, remove.mutation]],
  ])('all engagement kinds have different %s', (_, namesOf) => {
    const names = rows.flatMap(namesOf).filter((name) => typeof name === 'string')
    expect(new Set(names).size).toBe(names.length)
  })

  test('a kind of engagement without one of its parts does not compile', () => {
    type Likes = (typeof kinds)['likes']
    type Optional = {
      [Part in keyof KindRow]: Omit<Likes, Part> extends KindRow ? Part : never
    }[keyof KindRow]
    expectTypeOf<Likes>().toExtend<KindRow>()
    expectTypeOf<Optional>().toBeNever()
  })

  test('each kind whose key is the entry id has an index of these ids in overflow', () => {
    const { indexes } = catalogue('collection').overflow
    const byId = indexes.filter(({ key }) => 'items._id' in key)
    expect(byId.map((index) => index.partialFilterExpression)).toEqual(
      kindsKeyedBy('_id').map((kind) => ({ '_id.kind': kind })),
    )
    expect(new Set(byId.map(({ name }) => name)).size).toBe(byId.length)
  })
})
