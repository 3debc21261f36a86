import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { type GraphImportOptions, importGraph } from '../../packages/import/import-graph.ts'
import type { FollowingMode } from '../../src/config.ts'
import { readConfig } from '../../src/environment.ts'
import { createServices, type Services } from '../../src/services.ts'
import { type TestDatabase, useDatabase } from './mongo.ts'

/** The test file's own database for imports. It is empty at the start of each test. */
export interface ImportsHarness {
  readonly database: TestDatabase
  /** Services with their own state, like a new process. */
  readonly services: () => Services
  /** A folder for more files. */
  readonly folder: string
  /**
   * A file with a {@link ring} of 60 users who follow 5 users each. Written at the start of each
   * test.
   */
  readonly file: string
  /** Imports {@link file}. */
  readonly graph: (options?: Partial<GraphImportOptions>) => ReturnType<typeof importGraph>
  /**
   * Fails unless all counters equal the stored edges of both collections. @returns the number of
   * edges.
   */
  readonly expectExact: () => Promise<number>
}

/** Gives a test file a database for imports. `folder` and `file` exist when hooks run. */
export function useImports(following: FollowingMode): ImportsHarness {
  const database = useDatabase(following)
  const config = readConfig({ FOLLOWING: following })
  const services = () => createServices(database.client, database.db, config)
  let folder = ''
  let file = ''

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'feedline-import-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))
  beforeEach(async () => {
    for (const collection of Object.values(database.collections)) await collection.deleteMany({})
    file = join(folder, 'graph.txt')
    await writeFile(file, ring(60, 5))
  })

  async function expectExact(): Promise<number> {
    const { users, user_stats, followers, following: forward, posts } = database.collections
    const edges = await followers.find().toArray()
    const counted = new Map<string, { followers: number; following: number; posts: number }>()
    const of = (id: string) => {
      const found = counted.get(id) ?? { followers: 0, following: 0, posts: 0 }
      counted.set(id, found)
      return found
    }
    for (const { _id } of await users.find({ deletedAt: { $exists: false } }).toArray()) of(_id)
    for (const { user, follower } of edges) {
      of(user).followers++
      of(follower).following++
    }
    for (const { author } of await posts.find().toArray()) of(author).posts++
    const stats = await user_stats.find({}, { projection: { guard: 0, audience: 0 } }).toArray()
    expect(new Map(stats.map(({ _id, ...counts }) => [_id, counts]))).toEqual(counted)
    if (following === 'collection') {
      const other = await forward.find().toArray()
      expect(new Set(other.map((edge) => `${edge._id} ${edge.user} ${edge.followee}`))).toEqual(
        new Set(edges.map((edge) => `${edge._id} ${edge.follower} ${edge.user}`)),
      )
    }
    return edges.length
  }

  return {
    ...{ database, services, expectExact },
    get folder() {
      return folder
    },
    get file() {
      return file
    },
    graph: (options = {}) => importGraph(services(), { file, mutual: false, ...options }),
  }
}

/** An edge list: each of `size` users follows the next `degree` ones. */
export function ring(size: number, degree: number): string {
  const lines: string[] = []
  for (let n = 0; n < size; n++) {
    for (let step = 1; step <= degree; step++) lines.push(`u${n} u${(n + step) % size}`)
  }
  return `# a ring\n${lines.join('\n')}\n`
}
