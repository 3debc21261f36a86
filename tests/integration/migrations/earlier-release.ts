import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { afterAll, beforeAll, inject } from 'vitest'
import { connect } from '../../../src/db/client.ts'
import type { MongoClient } from '../../../src/db/mongo.ts'
import { root } from '../../support/process.ts'

/** Gives a test file an earlier release, and a client for the databases that it makes. */
export function useEarlierRelease(commit: string) {
  let client: MongoClient | undefined
  let folder = ''
  beforeAll(async () => {
    client = await connect(inject('mongoUri'), 'bulk')
    folder = await unpackRelease(commit)
  })
  afterAll(async () => client?.close())
  return {
    /** The folder of its command line, relative to the root. */
    get folder() {
      return folder
    },
    openDb(name: string) {
      if (!client) throw new Error('the client is there from beforeAll on')
      return client.db(name)
    },
  }
}

/**
 * Unpacks the command line of an earlier release, which scripts/bundle-release.ts wrote.
 * @returns its folder, relative to the root.
 */
async function unpackRelease(commit: string): Promise<string> {
  const packed = await readFile(join(root, `tests/fixtures/${commit}.js.gz`))
  const folder = `test-dist/${commit}`
  await mkdir(join(root, folder), { recursive: true })
  await writeFile(join(root, folder, 'main.js'), await promisify(gunzip)(packed))
  return folder
}
