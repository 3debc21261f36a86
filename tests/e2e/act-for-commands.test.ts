import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { secret, signed } from '../support/act-for.ts'
import { useApp } from '../support/app.ts'
import { root } from '../support/process.ts'

const app = useApp({ AUTH_JWT_SECRET: secret })
const token = signed({ sub: 'importer', scope: 'act-for' }).replace('Bearer ', '')

test('the commands of the document create the account of a user, and post for it', async () => {
  const document = await readFile(join(root, 'docs/how-to/sign-in.md'), 'utf8')
  const [, section = ''] = document.split('## Servers that act for users')
  const [, commands = ''] = /^```\n([\s\S]*?)^```$/m.exec(section) ?? []
  const script = commands
    .replaceAll('https://feed.example', app.url)
    .replaceAll('curl ', 'curl -s ')
  const env = { PATH: process.env.PATH, TOKEN: token }
  const { stdout } = await promisify(execFile)('bash', ['-e', '-c', script], { env })
  expect(JSON.parse(stdout).errors).toBeUndefined()
  const posts = '{ user(handle: "ann") { posts(first: 1) { edges { node { text } } } } }'
  const { data } = await app.send({ query: posts })
  expect(data.user.posts.edges).toEqual([{ node: { text: 'Hello' } }])
})
