import { afterAll, describe, expect, inject, test } from 'vitest'
import { composeFiles, containerEnvironment, dotEnvOf } from '../support/compose.ts'
import { signByHmac } from '../support/key-server.ts'
import { useDatabase } from '../support/mongo.ts'
import { feedline } from '../support/process.ts'
import { type Provider, providers, publishKeys, sectionOf, sign } from '../support/providers.ts'
import { now } from '../support/sign-in.ts'

const database = useDatabase()
const { environmentOf, close } = await publishKeys()
afterAll(close)

/** The database and addresses of a test, in the place of those of a container. */
const ofTest = () => ({
  ...{ MONGODB_URI: inject('mongoUri'), MONGODB_DATABASE: database.name, DRAIN_SECONDS: '0' },
  ...{ HOST: '127.0.0.1', PORT: '0', ADMIN_HOST: '127.0.0.1', ADMIN_PORT: '0' },
})

/** Starts the server of a Compose file with this `.env`, and asks it as the viewer of a token. */
async function askServer(
  file: (typeof composeFiles)[number],
  variables: Readonly<Record<string, string>>,
  token: string,
) {
  const environment = await containerEnvironment(file, 'feedline', { dotEnv: dotEnvOf(variables) })
  const server = feedline(['serve'], { ...environment, ...ofTest() })
  const [, url = ''] = await server.says(/GraphQL: (http:\S+)\/graphql/)
  const ask = async (authorization: string) => {
    const headers = { 'content-type': 'application/json', authorization }
    const body = JSON.stringify({ query: '{ viewer { roles } }' })
    const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body })
    const { data, errors } = await response.json()
    return errors ? errors[0].extensions.code : data.viewer.roles
  }
  const answers = [await ask(`Bearer ${token}`), await ask('Dev alice')]
  server.child.kill('SIGTERM')
  expect(await server.ended).toBe(0)
  return answers
}

/** The variables of a section of the document, with the keys of the tests. */
function variablesOf(name: string) {
  const { NODE_ENV: _, MONGODB_URI: __, ...variables } = environmentOf(name)
  return variables
}

describe.each(composeFiles)('%s', (file) => {
  test.each(Object.entries(providers))(
    `a token of %s signs in at the server of ${file}, and Dev does not`,
    async (name, provider: Provider) => {
      expect(await askServer(file, variablesOf(name), sign(provider))).toEqual([
        ['MODERATOR'],
        'UNAUTHENTICATED',
      ])
    },
  )
})

test('a token of one of several issuers signs in at the server of compose.yaml', async () => {
  const { env } = sectionOf('Several issuers')
  const [, jobs] = JSON.parse(env.AUTH_ISSUERS ?? '[]')
  const claims = { iss: jobs.issuer, sub: 'importer', exp: now() + 600 }
  const token = signByHmac('HS256', jobs.secret, claims)
  expect(await askServer('compose.yaml', env, token)).toEqual([[], 'UNAUTHENTICATED'])
})

test('a server of compose.yaml without a key ends with a sentence that names the variables', async () => {
  const environment = await containerEnvironment('compose.yaml', 'feedline', {})
  const server = feedline(['serve'], { ...environment, ...ofTest() })
  expect(await server.ended).toBe(1)
  expect(server.err()).toContain(
    'AUTH_JWT_SECRET, AUTH_JWKS_URL or AUTH_ISSUERS: production requires one of them',
  )
})
