import { errorCodes } from '../../src/errors.ts'
import { release } from '../../src/lib/release.ts'
import { patient } from '../support/patience.ts'
import { feedline } from '../support/process.ts'
import { type Attack, issuersVariable, type Mode, secret } from './attack.ts'
import { exchange, type WireAnswer } from './wire.ts'

/** A `feedline serve` process under attack. */
export interface AttackedServer {
  readonly mode: Mode
  /** Sends a row and checks everything that must hold. @returns its defects. */
  readonly attack: (attack: Attack) => Promise<readonly string[]>
  /** The bytes of the heap after a garbage collection, and of the process. */
  readonly memory: () => Promise<{ readonly heap: number; readonly resident: number }>
  /** The lines of errors in the log, beside those about the keys that no one can fetch. */
  readonly errors: () => readonly string[]
  readonly stop: () => Promise<void>
}

interface LogLine {
  readonly level: number
  readonly msg: string
  readonly requestId?: string
  readonly commands?: number
}

/** Text that describes the server, its driver or its database instead of the request. */
const internals =
  /node_modules|call stack|node:internal|\n? {4}at |\.ts:\d|\.js:\d|Mongo[A-Z]\w+|E11000|BSON|ECONN|FST_ERR|Cannot read|is not a function|Did you mean/

/** The account of a subject is read again after some seconds. */
const signInCommands = 1

/**
 * The most bytes of an answer: what a large page of errors needs, and far less than an amplifier.
 */
const answerBytesMax = 60_000

/** Starts a server with its log of all requests, and high rate limits. */
export async function startServer(
  mode: Mode,
  env: Readonly<Record<string, string>>,
): Promise<AttackedServer> {
  const server = feedline(['serve'], {
    NODE_ENV: mode,
    AUTH_JWT_SECRET: secret,
    AUTH_ISSUERS: issuersVariable,
    LOG_LEVEL: 'debug',
    PORT: '0',
    ADMIN_PORT: '0',
    DRAIN_SECONDS: '0',
    RATE_LIMIT_COST: '1000000000',
    RATE_LIMIT_MUTATIONS: '1000000000',
    NODE_OPTIONS: `--max-old-space-size=256 --import=${new URL('collect-garbage.mjs', import.meta.url).pathname}`,
    ...env,
  })
  const [, admin = ''] = await server.says(/metrics and probes: (http:\S+)\/metrics/)
  const [, url = ''] = await server.says(/GraphQL: (http:\S+)\/graphql/)
  const port = Number(new URL(url).port)
  let collections = 0
  const log = new ProcessLog(server.out)
  return {
    mode,
    attack: async (attack) => {
      try {
        const answers = await exchange(port, attack.sending)
        // Without a date, the answer comes from the connection: no route saw the request, and the
        // log has no line.
        const routed = answers.filter(({ headers }) => headers.has('date'))
        const ids = routed.flatMap(({ headers }) => headers.get('x-request-id') ?? [])
        const commands = await log.commandsOf(ids)
        return [
          ...defectsOf(attack, answers),
          ...(commands > attack.commandsMax + signInCommands ? [`${commands} commands`] : []),
        ].map((defect) => `${attack.name}: ${defect}`)
      } catch (error) {
        return [`${attack.name}: ${(error as Error).message}`]
      }
    },
    memory: async () => {
      server.child.kill('SIGWINCH')
      await server.says(new RegExp(`garbage collection ${++collections};`))
      const text = await (await fetch(`${admin}/metrics`)).text()
      const gauge = (name: string) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1])
      return {
        heap: gauge('nodejs_heap_size_used_bytes'),
        resident: gauge('process_resident_memory_bytes'),
      }
    },
    errors: () => [...log.errors(), ...server.err().split('\n').filter(Boolean)],
    stop: async () => {
      server.child.kill('SIGTERM')
      if ((await server.ended) !== 0) throw new Error(`the process failed: ${server.err()}`)
    },
  }
}

function defectsOf({ answers: wanted }: Attack, answers: readonly WireAnswer[]): readonly string[] {
  const given = answers.map(({ status, body }) => `${status} ${codeOf(body)}`)
  const defects = JSON.stringify(given) === JSON.stringify(wanted) ? [] : [given.join(', ')]
  for (const { status, body, headers } of answers) {
    if (status >= 500) defects.push(`status ${status}`)
    if (internals.test(body)) defects.push(`internals in ${body.slice(0, 300)}`)
    if (body.length > answerBytesMax) defects.push(`an answer of ${body.length} bytes`)
    if (!headers.has('x-request-id')) defects.push('no request id')
    if (!hasReleases(body)) defects.push('an error without the release')
    if (headers.get('x-content-type-options') !== 'nosniff') defects.push('no security headers')
    if (headers.get('connection') === 'keep-alive' && status >= 500) defects.push('stays open')
  }
  return defects
}

/**
 * The code of the first error of a body; OK without errors, and a defect for an undocumented code.
 */
function codeOf(body: string): string {
  if (body === '') return ''
  const { errors = [] } = parseBody(body)
  const codes = errors.map(({ extensions }) => extensions?.code ?? 'no code')
  return codes.find((code) => !(code in errorCodes)) ?? codes[0] ?? 'OK'
}

/** Whether each error of a body names the release. */
const hasReleases = (body: string): boolean =>
  body === '' ||
  (parseBody(body).errors ?? []).every(({ extensions }) => extensions?.release === release)

interface Body {
  readonly errors?: readonly {
    readonly extensions?: { readonly code?: string; readonly release?: string }
  }[]
}

function parseBody(body: string): Body {
  try {
    return JSON.parse(body)
  } catch {
    return { errors: [{ extensions: { code: `no JSON: ${body.slice(0, 100)}` } }] }
  }
}

/** How long a line of a request may take after its answer, in milliseconds. */
const lineMsMax = patient(3_000)

/** The log of a process, read as it grows. */
class ProcessLog {
  private readonly lines = new Map<string, LogLine>()
  private readonly failures: string[] = []
  private read = 0

  constructor(private readonly output: () => string) {}

  /** The commands of requests. */
  async commandsOf(ids: readonly string[]): Promise<number> {
    const until = Date.now() + lineMsMax
    let sum = 0
    for (const id of ids) {
      while (!this.lineOf(id) && Date.now() < until) await pause()
      sum += this.lineOf(id)?.commands ?? 0
    }
    return sum
  }

  errors(): readonly string[] {
    this.advance()
    return this.failures
  }

  private lineOf(id: string): LogLine | undefined {
    this.advance()
    return this.lines.get(id)
  }

  private advance(): void {
    const output = this.output()
    const end = output.lastIndexOf('\n') + 1
    for (const text of output.slice(this.read, end).split('\n')) {
      if (!text.startsWith('{')) continue
      const line = JSON.parse(text) as LogLine
      if (line.msg.startsWith('published keys cannot be fetched')) continue
      if (line.level >= 50) this.failures.push(text.slice(0, 600))
      else if (line.requestId) this.lines.set(line.requestId, line)
    }
    this.read = end
  }
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 5))
