import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { generateKeyPair, SignJWT } from 'jose'
import { test } from 'vitest'
import { useApp } from '../support/app.ts'
import { failCommand } from '../support/mongo.ts'
import { handle, openAccounts } from '../support/services.ts'

let mode = 'status'
const server = createServer((_, r) => {
  if (mode === 'status') r.statusCode = 500
  if (mode === 'redirect') { r.statusCode = 302; r.setHeader('location', 'http://127.0.0.1:9/') }
  r.end(mode === 'shape' ? '{"nokeys":1}' : mode === 'text' ? '<html>' : mode === 'hang' ? undefined : 'x')
})
await new Promise<void>((res) => server.listen(0, '127.0.0.1', () => res()))
const keyed = useApp({ AUTH_JWKS_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/k` })
const dead = useApp({ AUTH_JWKS_URL: 'http://127.0.0.1:9/keys' })
const app = useApp()

test('jwks', async () => {
  const { privateKey } = await generateKeyPair('ES256')
  const t = await new SignJWT({ sub: 'a', exp: Date.now() / 1000 + 60 | 0 }).setProtectedHeader({ alg: 'ES256', kid: 'x' }).sign(privateKey)
  for (mode of ['status', 'redirect', 'shape', 'text']) {
    const a = await keyed.send({ query: '{viewer{handle}}', headers: { authorization: `Bearer ${t}` } })
    console.info(mode, a.status, JSON.stringify(a.errors), keyed.logged.length)
  }
  const a = await dead.send({ query: '{viewer{handle}}', headers: { authorization: `Bearer ${t}` } })
  console.info('dead', a.status, JSON.stringify(a.errors), dead.logged.length, dead.logged.at(-1)?.slice(0, 300))
  server.close()
})

test('codes', async () => {
  await openAccounts(app.services, [handle('ann'), handle('bob')])
  for (const f of [
    { errorCode: 10107 }, { errorCode: 189 }, { errorCode: 91 }, { errorCode: 11600 }, { errorCode: 11602 }, { errorCode: 13435 }, { errorCode: 13436 },
    { errorCode: 50 }, { errorCode: 6 }, { errorCode: 89 }, { errorCode: 262 }, { errorCode: 202 }, { errorCode: 8000 }, { blockMs: 4000 }, { closeConnection: true }]) {
    for (const [cmd, query] of [['find', '{ user(handle: "ann") { name } }'], ['update', 'mutation { followUser(input:{handle:"bob"}) { changed } }'], ['commitTransaction', 'mutation { followUser(input:{handle:"bob"}) { changed } }']] as const) {
      const start = Date.now()
      await using _ = await failCommand(app.database.client, { failCommands: [cmd], ...f })
      const a = await app.send({ as: 'ann', query })
      console.info(JSON.stringify(f), cmd, a.status, a.errors[0]?.extensions.code ?? 'OK', Date.now() - start)
    }
  }
}, 300000)
