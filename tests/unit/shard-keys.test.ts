import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { planSharding } from '../../packages/shard/plan.ts'
import { catalogue } from '../../src/db/collections.ts'
import { broadcastSources, broadcasts } from '../support/broadcasts.ts'

const specs = Object.entries(catalogue('collection'))
const sharded = specs.flatMap(([name, spec]) =>
  spec.shardKey ? [{ name, ...spec, shardKey: spec.shardKey }] : [],
)
const isPrefix = (key: readonly string[], of: readonly string[]) =>
  key.every((field, n) => of[n] === field)

/** What MongoDB 6.0 requires of a sharded collection, by its manual. */
test('a collection gets an index for its shard key, unless a declared index begins with it', () => {
  const collections = new Map()
  const state = { shards: [{ name: 'a', zones: [] }], collections, sample: [] }
  const own = planSharding('feedline', catalogue('collection'), state).flatMap(({ command }) =>
    command.createIndexes
      ? command.indexes
          .filter(({ name }: { name: string }) => name === keyName(command.createIndexes))
          .map(() => command.createIndexes)
      : [],
  )
  const declared = sharded.filter(({ shardKey, indexes }) =>
    [{ key: { _id: 1 } }, ...indexes.filter((index) => !index.partialFilterExpression)].some(
      ({ key }) =>
        Object.entries(shardKey).every((one, n) => one.join() === Object.entries(key)[n]?.join()),
    ),
  )
  const others = sharded.filter((spec) => !declared.includes(spec)).map(({ name }) => name)
  expect(own.filter((name) => others.includes(name))).toEqual(others)
  // The index of posts by author has the ids in descending order.
  expect(others).toEqual(['handles', 'subjects', 'posts', 'overflow', 'outbox', 'rate_limits'])
})

const keyName = (name: string) =>
  Object.entries(sharded.find((spec) => spec.name === name)?.shardKey ?? {})
    .flat()
    .join('_')

test.each(sharded)('every unique index of $name begins with its shard key', (spec) => {
  const unique = spec.indexes.filter((index) => index.unique)
  for (const index of unique) {
    expect(Object.values(spec.shardKey)).not.toContain('hashed')
    expect(isPrefix(Object.keys(spec.shardKey), Object.keys(index.key)), index.name).toBe(true)
  }
})

test.each(sharded)('the key of $name is hashed, or its values spread by handle', (spec) => {
  // An id grows with time: as the first field, all new documents would go to one shard.
  const isHashed = Object.values(spec.shardKey).includes('hashed')
  expect(isHashed).toBe(spec.accountIn === undefined)
  if (isHashed) expect(Object.keys(spec.shardKey)).toHaveLength(1)
})

test.each(sharded.filter(({ clustered }) => clustered))(
  '$name is clustered by _id, which is also its shard key',
  ({ shardKey }) => {
    expect(shardKey).toEqual({ _id: 1 })
  },
)

test('an index that expires documents has one field, so each shard expires its own', () => {
  for (const [, { indexes }] of specs) {
    for (const { key, expireAfterSeconds } of indexes)
      if (expireAfterSeconds !== undefined) expect(Object.keys(key)).toHaveLength(1)
  }
})

test('collections without a shard key are those that stay small, or that operators read', () => {
  const small = specs.filter(([, { shardKey }]) => !shardKey).map(([name]) => name)
  expect(small.sort()).toEqual(['imports', 'meta', 'strategies'])
})

test('docs/how-to/sharded-cluster.md lists every broadcast with its reason', () => {
  const text = readFileSync(
    join(import.meta.dirname, '../../docs/how-to/sharded-cluster.md'),
    'utf8',
  )
  const rows = [
    ...broadcasts.map(
      ({ by, command, collection, from, why }) =>
        `| ${by} | \`${command} ${collection}\` | \`${from}\` | ${why} |`,
    ),
    ...broadcastSources.map(({ from, why }) => `| \`${from}\` | ${why} |`),
  ]
  expect(rows.filter((row) => !text.includes(row))).toEqual([])
  const [, section = ''] = /^## Commands that ask all shards\n(.*)/ms.exec(text) ?? []
  expect(section.match(/^\| .*`(?:src|packages)\/.*\|$/gm)).toHaveLength(rows.length)
})
