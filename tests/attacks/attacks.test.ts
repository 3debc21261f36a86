import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { noteFact } from '../support/facts.ts'
import { share } from '../support/repetition.ts'
import { openAccounts, useServices } from '../support/services.ts'
import { type Attack, accounts, documentAttack, existing, type Mode } from './attack.ts'
import { type AttackedServer, startServer } from './server.ts'
import { rawBytes } from './table/connections.ts'
import { contentAttacks } from './table/contents.ts'
import { documents } from './table/documents.ts'
import { envelopes } from './table/envelopes.ts'
import { transport } from './table/http.ts'
import { productionAttacks } from './table/production.ts'
import { signInAttacks } from './table/sign-in.ts'
import { tokenAttacks } from './table/tokens.ts'
import { values } from './table/values.ts'

const families: Readonly<Record<string, readonly Attack[]>> = {
  documents,
  'values of wrong types': values,
  'wrong contents of values': contentAttacks,
  'bodies of requests': envelopes,
  tokens: tokenAttacks,
  'issuers and headers of tokens': signInAttacks,
  HTTP: transport,
  'bytes of connections': rawBytes,
  'what production hides': productionAttacks,
}
const table = Object.values(families).flat()
const modes: readonly Mode[] = ['development', 'production']
const megabyte = 1024 ** 2
/** The most memory of the cache of documents: 8 MB, and what a measurement differs by. */
const documentsMegabytesMax = 20
/** The most memory that repeated rows may add. */
const [heapMegabytesMax, residentMegabytesMax] = [8, 64]

/** Documents of 90 KB that differ, and are almost nothing to GraphQL. */
const distinctDocuments = ['#\n', ' ', ',', `#${'x'.repeat(98)}\n`].flatMap((filler) =>
  Array.from({ length: 60 }, (_, n) =>
    documentAttack(
      `${JSON.stringify(filler)} ${n}`,
      `{ a${n}: __typename }${filler.repeat(40_000)}`.slice(0, 60_000),
      {
        answer: '200 OK',
      },
    ),
  ),
)
/** Requests that are under way at once. */
const together = 24

const world = useServices()
const servers = new Map<Mode, AttackedServer>()

beforeAll(async () => {
  await openAccounts(world.services, accounts)
  const { id, author } = existing
  await world.services.collections.posts.insertOne({ _id: toObjectId(id), author, text: 'x' })
  const env = { MONGODB_URI: inject('mongoUri'), MONGODB_DATABASE: world.database.name }
  for (const mode of modes) servers.set(mode, await startServer(mode, env))
})

afterAll(() => Promise.all([...servers.values()].map((server) => server.stop())))

const serverOf = (mode: Mode): AttackedServer => {
  const server = servers.get(mode)
  if (!server) throw new Error(`the ${mode} process runs from beforeAll on`)
  return server
}

const rowsOf = (rows: readonly Attack[], mode: Mode): readonly Attack[] =>
  rows.filter(({ only }) => only === undefined || only === mode)

/**
 * The rows of a mode. By day, only a share of a family that the schema generates, another one in
 * each mode.
 */
function sampled(rows: readonly Attack[], mode: Mode): readonly Attack[] {
  const sent = rowsOf(rows, mode)
  if (rows.length < 1_000) return sent
  return mode === 'development' ? share(3, sent) : share(6, sent, 1)
}

/** Sends rows, many at once. @returns all defects. */
async function attackAll(server: AttackedServer, rows: readonly Attack[]) {
  const waiting = [...rows]
  const defects: string[] = []
  const sendNext = async () => {
    for (let row = waiting.shift(); row; row = waiting.shift()) {
      defects.push(...(await server.attack(row)))
    }
  }
  await Promise.all(Array.from({ length: together }, sendNext))
  return defects
}

test('the table has at least 400 rows, and each row has a name of its own', () => {
  expect(table.length).toBeGreaterThanOrEqual(400)
  const names = table.map(({ name }) => name)
  expect(names.filter((name, n) => names.indexOf(name) < n)).toEqual([])
})

describe.each(modes)('a %s process', (mode) => {
  test.each(Object.entries(families))(
    'answers bad inputs as documented: %s',
    async (name, rows) => {
      const server = serverOf(mode)
      const begun = performance.now()
      const sent = sampled(rows, mode)
      const defects = await attackAll(server, sent)
      noteFact(
        `${mode}, ${name}: ${sent.length} rows in ${Math.round(performance.now() - begun)} ms`,
      )
      expect(defects).toEqual([])
    },
  )

  test('keeps no memory of documents, whatever fills them', async () => {
    const server = serverOf(mode)
    const before = await server.memory()
    expect(await attackAll(server, distinctDocuments)).toEqual([])
    const after = await server.memory()
    const grown = (after.heap - before.heap) / megabyte
    noteFact(`${mode}: ${distinctDocuments.length} documents kept ${grown.toFixed(1)} MB`)
    expect(grown).toBeLessThan(documentsMegabytesMax)
  })

  test('has the same memory after rows of all families as after three more times', async () => {
    const server = serverOf(mode)
    const every12th = rowsOf(table, mode).filter((_, n) => n % 12 === 0)
    const rows = share(3, every12th)
    await attackAll(server, rows)
    const before = await server.memory()
    for (let n = 0; n < 3; n++) await attackAll(server, rows)
    const after = await server.memory()
    const heap = (after.heap - before.heap) / megabyte
    const resident = (after.resident - before.resident) / megabyte
    noteFact(`${mode}: heap ${heap.toFixed(1)} MB, resident ${resident.toFixed(1)} MB more`)
    expect(heap).toBeLessThan(heapMegabytesMax)
    expect(resident).toBeLessThan(residentMegabytesMax)
  })

  test('logs no error', () => {
    expect(serverOf(mode).errors()).toEqual([])
  })
})
