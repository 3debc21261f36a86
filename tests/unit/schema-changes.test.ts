import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readEarlierSchema, unnamedBreakingChanges } from '../../scripts/schema-changes.ts'

const earlier = `
  type Query { user(handle: String): User  page: Page }
  type User { name: String!  stats: Stats }
  type Stats { posts: Int }
  type Page { at: DateISO }
  scalar DateISO
  enum Kind { IMAGE LINK }
  input Filter { kind: Kind }`
const changelog = (...lines: readonly string[]) =>
  `# Changelog\n\n## Unreleased\n\n${lines.map((line) => `- ${line}\n`).join('')}\n## 0.1.0\n\n- \`User.name\`\n`

const replaced = (from: string | RegExp, to: string) => earlier.replace(from, to)
const unnamed = (current: string, ...lines: readonly string[]) =>
  unnamedBreakingChanges(earlier, current, changelog('Something else.', ...lines))

describe('a breaking change of the schema', () => {
  test.each([
    ['a removed field', replaced('name: String!', ''), '`User.name` is gone.'],
    [
      'a removed type',
      replaced('stats: Stats', '').replace('type Stats { posts: Int }', ''),
      '`User.stats` and `Stats` are gone.',
    ],
    [
      'a field that may be null',
      replaced('name: String!', 'name: String'),
      'Null is possible: `User.name`.',
    ],
    [
      'a required argument',
      replaced('handle: String)', 'handle: String!)'),
      '`user` requires a handle.',
    ],
    ['a removed enum value', replaced('LINK', ''), '`Kind.LINK` is gone.'],
    [
      'a required input field',
      replaced('kind: Kind }', 'kind: Kind!  size: Int! }'),
      '`Filter.kind` and `Filter.size` are required.',
    ],
    ['a renamed scalar', earlier.replaceAll('DateISO', 'Date'), '`DateISO` is now `Date`.'],
  ])('needs a line of the changelog that names it: %s', async (_, current, line) => {
    expect(await unnamed(current)).not.toEqual([])
    expect(await unnamed(current, line)).toEqual([])
  })

  test('is not named by a part of another name, by its type alone, or by an earlier release', async () => {
    const current = replaced('name: String!', '')
    const lines = ['`User` has changed.', '`User.names` and `SuperUser.name`.']
    expect(await unnamed(current, ...lines)).toEqual([
      'Field `name` was removed from object type `User`',
    ])
  })

  test('may be named by the newest release if nothing is unreleased', async () => {
    const released = changelog()
    expect(await unnamedBreakingChanges(earlier, replaced('name: String!', ''), released)).toEqual(
      [],
    )
  })
})

test.each([
  ['a new field', replaced('name: String!', 'name: String!  bio: String')],
  ['a new type and an optional argument', replaced('handle: String)', 'handle: String, of: Kind)')],
  ['a deprecation', replaced('stats: Stats', 'stats: Stats @deprecated(reason: "Use counts.")')],
  ['a description', replaced('type User', '"""A user."""\ntype User')],
])('a harmless change of the schema needs no line: %s', async (_, current) => {
  expect(await unnamed(current)).toEqual([])
})

describe('the earlier schema of a clone', () => {
  let folder: string
  const git = (...args: readonly string[]) => {
    const author = ['-c', 'user.name=test', '-c', 'user.email=test@feedline.example']
    return execFileSync('git', ['-C', folder, ...author, ...args], { encoding: 'utf8' }).trim()
  }
  const log = (heading: string) => writeFileSync(join(folder, 'CHANGELOG.md'), `${heading}\n`)
  const commit = (schema: string) => {
    writeFileSync(join(folder, 'schema/schema.graphql'), schema)
    git('add', '.')
    git('commit', '-q', '--allow-empty', '-m', schema)
  }
  const found = (at = folder) => readEarlierSchema(at)?.text

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'feedline-schema-'))
    mkdirSync(join(folder, 'schema'))
    git('init', '-q', '-b', 'main')
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  test('is that of the last release, or before the newest section of the changelog', () => {
    commit('one')
    expect(found()).toBeUndefined()
    commit('two')
    log('## Unreleased')
    commit('three')
    commit('four')
    expect(found()).toBe('two')
    git('tag', 'v0.1.0')
    commit('five')
    expect(found()).toBe('four')
  })

  test('is that of the merge base if the clone does not reach back to the section', () => {
    log('## Unreleased')
    commit('one')
    git('update-ref', 'refs/remotes/origin/main', 'HEAD')
    git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main')
    git('checkout', '-q', '-b', 'branch')
    commit('two')
    commit('three')
    expect(found()).toBe('one')
  })

  test('is missing in a shallow clone and outside a repository', () => {
    commit('one')
    commit('two')
    const clone = mkdtempSync(join(tmpdir(), 'feedline-schema-'))
    try {
      git('clone', '-q', '--depth', '1', `file://${folder}`, join(clone, 'shallow'))
      expect(found(join(clone, 'shallow'))).toBeUndefined()
      expect(found(clone)).toBeUndefined()
    } finally {
      rmSync(clone, { recursive: true, force: true })
    }
  })
})
