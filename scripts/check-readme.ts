import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { isDeepStrictEqual, promisify } from 'node:util'

// Runs the commands and queries of the tutorial, then those of the README, with a new data folder,
// and compares the answers with theirs. The query of the README is Bob's, after the tutorial.
const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const documents = ['docs/tutorial/first-feed.md', 'README.md']
const texts = await Promise.all(documents.map((file) => readFile(join(root, file), 'utf8')))
const fences = Array.from(
  texts.join('\n').matchAll(/^```(\w*)\n(.*?)^```/gms),
  ([, kind = '', text = '']) => ({ kind, text: text.trim() }),
)
const downloaded = join(root, '.feedline/bin')
const folder = await mkdtemp(join(tmpdir(), 'feedline-readme-'))
// The environment of the server. Uses the downloaded mongod if there is one.
const env = {
  ...process.env,
  PORT: '0',
  MONGODB_URI: '',
  FEEDLINE_DATA: join(folder, 'data'),
  // The first request for the playground loads its files, and a busy machine takes longer than 10
  // s.
  REQUEST_TIMEOUT_SECONDS: '120',
  PATH: `${process.env.PATH}:${downloaded}`,
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

/** Replaces each text of an answer by "…" where the document shows "…". */
function maskAnswer(answer: unknown, shown: unknown): unknown {
  if (shown === '…' && typeof answer === 'string') return shown
  if (typeof answer !== 'object' || answer === null || typeof shown !== 'object') return answer
  const masked = Object.entries(answer).map(([key, part]) => {
    return [key, maskAnswer(part, (shown as Record<string, unknown> | null)?.[key])] as const
  })
  return Array.isArray(answer) ? masked.map(([, part]) => part) : Object.fromEntries(masked)
}

async function runCurl(url: string, command: string): Promise<string> {
  const { stdout } = await run('bash', ['-c', command.replaceAll('localhost:4000', url)])
  return stdout
}

async function askAsBob(url: string, query: string): Promise<string> {
  const headers = { 'content-type': 'application/json', authorization: 'Dev bob' }
  const body = JSON.stringify({ query })
  const answer = await fetch(`${url}/graphql`, { method: 'POST', headers, body })
  return answer.text()
}

async function checkQueries(url: string): Promise<void> {
  for (const [at, { kind, text }] of fences.entries()) {
    const isQuery = kind === 'graphql'
    if (!isQuery && !text.startsWith('curl ')) continue
    const answerText = isQuery ? await askAsBob(url, text) : await runCurl(url, text)
    const next = fences[at + 1]
    const shown = next?.kind === 'json' ? JSON.parse(next.text) : undefined
    // Every answer also has its cost, which the tutorial describes once.
    const { extensions: _, ...answer } = JSON.parse(answerText)
    const isEqual = isDeepStrictEqual(maskAnswer(answer, shown), shown)
    if (!isEqual) console.log(JSON.stringify(answer))
    recordCheck(`the answer to ${isQuery ? text : text.slice(text.indexOf('{"query'))}`, isEqual)
  }
}

async function checkCommands(): Promise<void> {
  for (const { text } of fences) {
    if (!/^npm run feedline -- load /m.test(text)) continue
    // Only where the file is differs, so that none is left in the repository.
    const command = text.replaceAll('graph.csv', join(folder, 'graph.csv'))
    const { stdout } = await run('bash', ['-e', '-c', `${command} --json`], { cwd: root, env })
    const { users, edges } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}')
    recordCheck(text, users === 4 && edges === 6)
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
