import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseHandle } from '../../src/lib/ids.ts'
import { readAccountNames } from '../support/account-names.ts'
import { useApp } from '../support/app.ts'
import { runCommand } from '../support/command-line.ts'
import { Signer } from '../support/key-server.ts'
import { csv } from '../support/relations.ts'
import { now } from '../support/sign-in.ts'

const [ofMain, ofOther] = [new Signer('HS256', 'main'), new Signer('HS256', 'other')]
const [main, other] = ['https://main.example', 'https://other.example']
const signIn = {
  AUTH_JWT_SECRET: ofMain.secret,
  AUTH_ISSUER: main,
  AUTH_ISSUERS: JSON.stringify([{ issuer: other, secret: ofOther.secret }]),
}
const app = useApp(signIn)
let folder = ''
let files = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'feedline-subjects-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Runs a command on a file with a text. @returns what it printed, with its line of JSON. */
async function importText(command: string, text: string, args: readonly string[], env = signIn) {
  const file = join(folder, `${files++}.txt`)
  await writeFile(file, text)
  const { uri, name } = app.database
  const place = { MONGODB_URI: uri, MONGODB_DATABASE: name }
  const { stdout, ...rest } = await runCommand([command, file, ...args, '--json'], {
    ...place,
    ...env,
  })
  const [last = ''] = stdout.trim().split('\n').slice(-1)
  return { ...rest, stdout, report: last.startsWith('{') ? JSON.parse(last) : undefined }
}
const load = async (issuer: string, edges: string) =>
  (await importText('load', edges, ['--issuer', issuer])).report

const register = (issuer: string, sub: string, handle: string) =>
  app.services.users.register(
    { issuer, sub, isMain: issuer === main },
    { name: sub, handle: parseHandle(handle) },
  )

/** The handles of the followees of a subject, as its token sees them. */
async function followees(issuer: string, sub: string) {
  const signer = issuer === main ? ofMain : ofOther
  const token = signer.sign({ iss: issuer, sub, exp: now() + 600 })
  const query = '{ viewer { user { following(first: 20) { edges { node { handle } } } } } }'
  const headers = { authorization: `Bearer ${token}` }
  const { data, errors } = await app.send({ query, headers })
  if (errors.length > 0) throw new Error(JSON.stringify(errors))
  const edges: readonly { node: { handle: string } }[] | undefined =
    data.viewer.user?.following.edges
  return edges?.map(({ node }) => node.handle).sort()
}

test('load --issuer finds accounts by their subjects, in their case, and counts the edges of unknown ones', async () => {
  await register(other, 'auth0|Ann', 'ann')
  await register(other, 'AUTH0|ann', 'another')
  await register(other, 'google, "oauth2"|7', 'ben')
  const text = 'source,target\nauth0|Ann,"google, ""oauth2""|7"\nauth0|Ann,auth0|nobody\n'
  const report = await load(other, text)
  expect(report).toMatchObject({ users: 0, edges: 1, unknown: 1, badLines: 0 })
  expect(await followees(other, 'auth0|Ann')).toEqual(['ben'])
  expect(await followees(other, 'AUTH0|ann')).toEqual([])
  expect(await load(main, text)).toMatchObject({ users: 0, edges: 0, unknown: 2 })
})

test('load --issuer opens an account for a subject that is a free handle, and this subject signs in to it', async () => {
  expect(await load(other, 'cem 5bd6b7cc-8a1e\n')).toMatchObject({ users: 2, edges: 1, unknown: 0 })
  expect(await followees(other, 'cem')).toEqual(['5bd6b7cc-8a1e'])
  // The handle belongs to the subject of the other issuer now.
  expect(await followees(main, 'cem')).toBeUndefined()
  expect(await load(main, 'cem dan\n')).toMatchObject({ users: 0, edges: 0, unknown: 1 })
  const { handles } = app.database.collections
  expect(await handles.findOne({ _id: 'dan' })).toBeNull()
})

test('subjects of the main keys find accounts that were imported by handle, and those of listed issuers do not', async () => {
  expect((await importText('load', 'eli fay\n', [])).report).toMatchObject({ users: 2, edges: 1 })
  await register(main, 'auth0|gus', 'gus')
  expect(await load(main, 'eli auth0|gus\n')).toMatchObject({ users: 0, edges: 1, unknown: 0 })
  expect(await followees(main, 'eli')).toEqual(['fay', 'gus'])
  await register(other, 'auth0|hal', 'hal')
  expect(await load(other, 'eli auth0|hal\n')).toMatchObject({ users: 0, edges: 0, unknown: 1 })
})

test('an account of the issuer goes before one of the same sub without an issuer', async () => {
  await register(main, 'ida', 'ida.main')
  // For an hour, the new account holds the subject without an issuer.
  await app.database.collections.subjects.deleteOne({ _id: ' ida' })
  await importText('load', 'ida jo\n', [])
  expect(await load(main, 'ida jo\n')).toMatchObject({ users: 0, edges: 1 })
  expect(await followees(main, 'ida')).toEqual(['jo'])
  const { idOf } = await readAccountNames(app.database.collections)
  const edges = await app.database.collections.followers.find({ user: idOf('jo') }).toArray()
  expect(edges.map(({ follower }) => follower).sort()).toEqual(
    [idOf('ida'), idOf('ida.main')].sort(),
  )
})

test('a renamed account is found by its subject, and the subject of a deleted one opens no account', async () => {
  const kim = await register(other, 'kim', 'kim')
  const lea = await register(other, 'auth0|lea', 'lea')
  if (!kim || !lea) throw new Error('an account')
  await app.services.users.update(kim.id, { handle: parseHandle('kimberley') })
  expect(await load(other, 'auth0|lea kim\n')).toMatchObject({ users: 0, edges: 1 })
  expect(await followees(other, 'auth0|lea')).toEqual(['kimberley'])
  await app.services.users.delete(kim.id)
  expect(await load(other, 'auth0|lea kim\nkim auth0|lea\n')).toMatchObject({ users: 0, edges: 0 })
  expect(await app.database.collections.users.countDocuments({ handle: 'kim' })).toBe(0)
})

test('import-relations --issuer writes the history of subjects, and a dry run predicts it', async () => {
  await register(other, 'auth0|Mia', 'mia')
  await register(other, 'auth0|Ned', 'ned')
  const text = csv([
    'auth0|Mia auth0|Ned 0 0 5 0 5',
    'auth0|Ned nobody| 0 0 5 0 5',
    'oz auth0|Mia 0 0 5 0 5',
  ])
  const args = ['--issuer', other]
  const { report: predicted } = await importText('import-relations', text, [...args, '--dry-run'])
  const { report } = await importText('import-relations', text, args)
  const counts = { users: 1, pairs: 2, edges: 2, passedOver: { unknown: 1, deleted: 0 } }
  expect([predicted, report]).toMatchObject([counts, counts])
  expect(await followees(other, 'auth0|Mia')).toEqual(['ned'])
  expect(await followees(other, 'oz')).toEqual(['mia'])
})

test('the same file by handles and by subjects is two imports, each with a checkpoint', async () => {
  await register(other, 'pat', 'pat.other')
  await register(other, 'quin', 'quin.other')
  const file = join(folder, 'both.txt')
  await writeFile(file, 'pat quin\n')
  const { uri, name } = app.database
  const env = { MONGODB_URI: uri, MONGODB_DATABASE: name, ...signIn }
  const run = async (...args: readonly string[]) => {
    const { stdout } = await runCommand(['load', file, '--json', ...args], env)
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
  }
  expect(await run()).toMatchObject({ users: 2, edges: 1 })
  expect(await run('--issuer', other)).toMatchObject({ users: 0, edges: 1 })
  expect(await run('--issuer', other)).toMatchObject({ edges: 0, total: { edges: 1 } })
  expect(await followees(other, 'pat')).toEqual(['quin.other'])
})

test('load refuses an issuer whose tokens no keys verify, and a name that is no subject', async () => {
  const { code, stderr, report } = await importText('load', 'ann ben\n', ['--issuer', `${main}/`])
  expect({ code, report }).toEqual({ code: 1, report: undefined })
  expect(stderr).toBe(
    `feedline: --issuer: no keys verify tokens of "${main}/": set AUTH_ISSUER or AUTH_ISSUERS, and their keys, as for the servers\n`,
  )
  const long = 'é'.repeat(128)
  const bad = await importText('load', `ann ${long}\n`, ['--issuer', other])
  expect(bad).toMatchObject({ code: 1, report: undefined })
  expect(bad.stderr).toMatch(/line 1 "é+…" is not a subject: it must be a text of 1 to 255 bytes/)
})
