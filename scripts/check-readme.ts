import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { isDeepStrictEqual, promisify } from 'node:util'

// Runs the commands and queries of the README with a new data folder, and compares the answers with the README.
const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const readme = await readFile(join(root, 'README.md'), 'utf8')
const fences = Array.from(
  readme.matchAll(/^```(\w*)\n(.*?)^```/gms),
  ([, kind = '', text = '']) => ({ kind, text: text.trim() }),
)
const downloadedMongod = join(root, '.feedline/bin/mongod')
const folder = await mkdtemp(join(tmpdir(), 'feedline-readme-'))
// The environment of the server. Uses the downloaded mongod if there is one.
const env = {
  ...process.env,
  PORT: '0',
  MONGODB_URI: '',
  FEEDLINE_DATA: join(folder, 'data'),
  MONGOD_BINARY:
    process.env.MONGOD_BINARY ?? (existsSync(downloadedMongod) ? downloadedMongod : ''),
}
const server = spawn('npm', ['start'], { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] })
const ended = once(server, 'exit')
const problems: string[] = []
let checked = 0

async function waitForServerUrl(): Promise<string> {
  for await (const line of createInterface({ input: server.stdout })) {
    const url = /GraphQL: (http:\S+)\/graphql/.exec(line)?.[1]
    if (url) {
      // Discards further output, so that the pipe does not fill up.
      server.stdout.resume()
      return url
    }
  }
  throw new Error('npm start ended before the server was ready')
}

function recordCheck(name: string, passed: boolean): void {
  checked++
  console.log(`${passed ? 'ok' : 'WRONG'}: ${name}`)
  if (!passed) problems.push(name)
}

/** Replaces each text of an answer by "…" where the README shows "…". */
function maskAnswer(answer: unknown, shown: unknown): unknown {
  if (shown === '…' && typeof answer === 'string') return shown
  if (typeof answer !== 'object' || answer === null || typeof shown !== 'object') return answer
  const masked = Object.entries(answer).map(([key, part]) => {
    return [key, maskAnswer(part, (shown as Record<string, unknown> | null)?.[key])] as const
  })
  return Array.isArray(answer) ? masked.map(([, part]) => part) : Object.fromEntries(masked)
}

async function checkQueries(url: string): Promise<void> {
  for (const [at, { text }] of fences.entries()) {
    if (!text.startsWith('curl ')) continue
    const { stdout } = await run('bash', ['-c', text.replaceAll('localhost:4000', url)])
    const next = fences[at + 1]
    const shown = next?.kind === 'json' ? JSON.parse(next.text) : undefined
    // Every answer also has its cost, which the README describes once.
    const { extensions: _, ...answer } = JSON.parse(stdout)
    const isEqual = isDeepStrictEqual(maskAnswer(answer, shown), shown)
    recordCheck(`the answer to ${text.slice(text.indexOf('{"query'))}`, isEqual)
  }
}

async function checkCommands(): Promise<void> {
  await writeFile(join(folder, 'graph.csv'), '1,2\n2,3\n3,4\n')
  for (const { text } of fences) {
    if (!text.startsWith('npm run feedline --')) continue
    const command = text.replace('graph.csv', join(folder, 'graph.csv'))
    const { stdout } = await run('bash', ['-c', `${command} --json`], { cwd: root, env })
    const { users, edges, posts } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}')
    recordCheck(text, users === 4 && edges === 6 && posts === 80)
  }
  const help = await run('npm', ['run', 'feedline', '--', '--help'], { cwd: root, env })
  for (const name of ['serve', 'load', 'token', 'indexes']) {
    recordCheck(`feedline --help lists ${name}`, help.stdout.includes(`  ${name}`))
  }
}

try {
  const url = await waitForServerUrl()
  await checkQueries(url)
  recordCheck(
    'the playground',
    (await fetch(url)).headers.get('content-type')?.startsWith('text/html') === true,
  )
  await checkCommands()
} finally {
  server.kill('SIGTERM')
  await ended
  await rm(folder, { recursive: true, force: true })
}
console.log(`${checked} checked, ${problems.length} wrong`)
if (problems.length > 0 || checked < 8) process.exitCode = 1
