import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { ConfigError } from '../../src/config.ts'
import { readConfig, variableNames } from '../../src/environment.ts'
import { signIn } from '../../src/sign-in.ts'
import {
  composeFiles,
  containerEnvironment,
  dotEnvOf,
  imageEnvironment,
  portsOf,
  servicesOf,
} from '../support/compose.ts'
import { root } from '../support/process.ts'
import { providers, sectionOf } from '../support/providers.ts'

/** Those of the container, which an operator does not choose. */
const ofContainer = ['NODE_ENV', 'HOST', 'PORT', 'ADMIN_HOST', 'ADMIN_PORT', 'MONGODB_URI']
const secret = 'a random text of at least 32 characters'
const documented = [...Object.keys(providers), 'Several issuers']

describe.each(composeFiles)('%s', (file) => {
  const environmentOf = (dotEnv?: string, shell = {}) =>
    containerEnvironment(file, 'feedline', { ...(dotEnv !== undefined && { dotEnv }), shell })

  test.each(documented)(
    `the variables of %s in .env, or in the shell, are those of the server of ${file}`,
    async (name) => {
      const { env } = sectionOf(name)
      for (const resolved of [await environmentOf(dotEnvOf(env)), await environmentOf('', env)]) {
        expect(resolved).toMatchObject(env)
        const { auth } = readConfig(resolved)
        expect(auth.dev).toBe(false)
        expect(auth.main ?? auth.issuers[0]).toBeDefined()
        // Compose passes nothing on that its operator did not set.
        const keys = ['AUTH_JWT_SECRET', 'AUTH_JWKS_URL', 'AUTH_ISSUERS']
        expect(keys.filter((key) => key in resolved)).toEqual(keys.filter((key) => key in env))
      }
    },
  )

  test(`without a key, the server of ${file} does not start, and names the variables`, async () => {
    const empty = 'AUTH_JWT_SECRET=\nAUTH_JWKS_URL=\n'
    for (const dotEnv of [undefined, '', empty, 'AUTH_ISSUER=https://feed.example\n']) {
      const resolved = await environmentOf(dotEnv)
      expect(() => readConfig(resolved)).toThrow(ConfigError)
      expect(() => readConfig(resolved)).toThrow(
        /AUTH_JWT_SECRET, AUTH_JWKS_URL or AUTH_ISSUERS: production requires one of them/,
      )
    }
  })

  test(`an empty variable in .env counts as absent for the server of ${file}`, async () => {
    const names = variableNames.filter((name) => name !== 'AUTH_JWT_SECRET')
    const empty = Object.fromEntries(names.map((name) => [name, '']))
    const dotEnv = dotEnvOf({ ...empty, AUTH_JWT_SECRET: secret })
    const plain = dotEnvOf({ AUTH_JWT_SECRET: secret })
    const config = readConfig(await environmentOf(dotEnv))
    expect(config).toEqual(readConfig(await environmentOf(plain)))
    expect(config.auth.dev).toBe(false)
  })

  test(`each variable in .env reaches the server of ${file}, except those of the container`, async () => {
    const given = Object.fromEntries(variableNames.map((name) => [name, `of ${name}`]))
    const resolved = await environmentOf(dotEnvOf(given))
    for (const name of variableNames) {
      if (ofContainer.includes(name)) expect(resolved[name], name).not.toBe(given[name])
      else expect(resolved[name], name).toBe(given[name])
    }
    expect(resolved).toMatchObject(imageEnvironment())
  })

  test(`each variable of sign-in in the shell reaches the server of ${file}, before that of .env`, async () => {
    const given = Object.fromEntries(Object.keys(signIn).map((name) => [name, `of ${name}`]))
    const other = Object.fromEntries(Object.keys(signIn).map((name) => [name, 'other']))
    expect(await environmentOf(dotEnvOf(other), given)).toMatchObject(given)
  })

  test(`PORT is the published port of ${file}`, () => {
    const portOf = (input: object) => portsOf(file, 'feedline', input)
    expect(portOf({})).toEqual(['127.0.0.1:4000:4000'])
    expect(portOf({ dotEnv: 'PORT=8080\n' })).toEqual(['127.0.0.1:8080:4000'])
  })

  test(`each service of ${file} that does not end starts again after a restart of its host`, () => {
    for (const [name, { restart, command = [] }] of Object.entries(servicesOf(file))) {
      const ends = command[0] === 'shard'
      expect(restart, name).toBe(ends ? undefined : 'unless-stopped')
    }
  })
})

test('the databases of a sharded cluster are built as its servers expect: they share .env', async () => {
  const dotEnv = 'FOLLOWING=reverse-index\n'
  const environment = await containerEnvironment('compose.sharded.yaml', 'shard', { dotEnv })
  expect(environment.FOLLOWING).toBe('reverse-index')
})

test('each variable in the secret of deploy/kubernetes.yaml reaches servers and workers', () => {
  const text = readFileSync(join(root, 'deploy/kubernetes.yaml'), 'utf8')
  const deployments = parseAllDocuments(text).flatMap((document) => {
    const { kind, spec } = document.toJS()
    return kind === 'Deployment' ? spec.template.spec.containers : []
  })
  expect(deployments.map(({ name }) => name)).toEqual(['server', 'worker'])
  for (const { envFrom, env = [] } of deployments)
    expect({ envFrom, env }).toEqual({ envFrom: [{ secretRef: { name: 'feedline' } }], env: [] })
})
