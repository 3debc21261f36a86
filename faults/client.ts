import { setTimeout as sleep } from 'node:timers/promises'
import { type PostId, timeOf } from '../src/lib/ids.ts'
import { decodeOpaque } from '../src/lib/opaque.ts'
import { chooseOperation } from './choose-operation.ts'
import { sendRequest } from './graphql.ts'
import type { Journal } from './journal.ts'
import type { User } from './model.ts'
import { createUser, deleteUser, type Operation } from './operations.ts'
import { Random } from './random.ts'
import { readTimeline } from './read-timelines.ts'
import type { Simulation } from './simulation.ts'

/** How long a mutation is repeated before its outcome counts as unknown, in milliseconds. */
const repeatMsMax = 60_000
/** How long a client usually waits for one answer, in milliseconds. */
const usualTimeoutMs = 30_000
const usersPerClient = 2
/**
 * The maximum difference between the time in an id and the time of its operation, in milliseconds.
 */
const skewMsMax = 2_000

/**
 * A client that acts for two users. It sends one operation at a time. No other client acts for
 * these users.
 */
export class Client {
  private readonly random: Random
  private readonly users: (User | undefined)[] = Array.from({ length: usersPerClient })
  private namesUsed = 0

  constructor(
    private readonly simulation: Simulation,
    private readonly number: number,
  ) {
    this.random = new Random(simulation.seed, number)
  }

  /** Sends operations until the signal aborts. Resolves when the last operation has ended. */
  async sendOperations(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const at = Math.floor(this.random.next() * usersPerClient)
      const user = this.users[at]
      if (!user) this.users[at] = await this.openAccount()
      else if (this.random.next() < 0.003) this.users[at] = await this.closeAccount(user)
      else if (this.random.next() < 0.25) await readTimeline(this.simulation, user, this.random)
      else {
        const operation = chooseOperation(
          this.simulation.world,
          user,
          this.random,
          this.newName('t'),
        )
        if (operation) await this.runOperation(operation)
      }
      await sleep(this.random.between(5, 60))
    }
  }

  private async openAccount(): Promise<User | undefined> {
    const { model, activeUsers } = this.simulation.world
    const operation = createUser(model, this.newName('u'))
    if (!(await this.runOperation(operation))) return undefined
    activeUsers.push(operation.user)
    return operation.user
  }

  private async closeAccount(user: User): Promise<undefined> {
    const { activeUsers, recentPosts } = this.simulation.world
    activeUsers.splice(activeUsers.indexOf(user), 1)
    const others = recentPosts.filter(({ author }) => author !== user.handle)
    recentPosts.splice(0, recentPosts.length, ...others)
    await this.runOperation(deleteUser(user))
  }

  /**
   * Sends a mutation. Repeats it with the same clientMutationId, at any server, until a server
   * accepts or refuses it.
   * @returns whether the mutation was acknowledged.
   */
  private async runOperation(operation: Operation): Promise<boolean> {
    const { journal, urls } = this.simulation
    const { document, actor, writes, name } = operation
    const variables = { input: { ...operation.input, clientMutationId: this.newName(name) } }
    const request = { document, variables, viewer: actor }
    const startedAt = Date.now()
    const deadline = performance.now() + repeatMsMax
    for (let attempt = 1; performance.now() < deadline; attempt++) {
      const startMs = performance.now()
      const answer = await sendRequest(
        this.random.pick(urls) ?? '',
        request,
        this.chooseTimeoutMs(attempt),
      )
      const endMs = performance.now()
      journal.recordRequest(startMs, endMs, answer)
      if (answer.data) {
        writes.end('acknowledged', endMs)
        const createdId = operation.readCreatedId?.(answer.data)
        if (createdId !== undefined) checkIdTime(journal, createdId, startedAt)
        journal.recordAcknowledgement(endMs)
        return true
      }
      if (answer.code === 'INTERNAL_SERVER_ERROR') {
        journal.recordViolation('internalErrors', endMs, `${name} by ${actor}: ${answer.message}`)
      } else if (!retryableCodes.has(answer.code)) {
        // An earlier attempt without an answer may have taken effect, or may do so later.
        writes.end(attempt === 1 ? 'refused' : 'unknown', endMs)
        return false
      }
      await sleep(this.random.between(50, 250))
    }
    writes.end('unknown', performance.now())
    return false
  }

  /**
   * Chooses the timeout of an attempt, in milliseconds. One first attempt in five ends early, so
   * that the repeat overlaps with it.
   */
  private chooseTimeoutMs(attempt: number): number {
    return attempt === 1 && this.random.next() < 0.2
      ? Math.round(this.random.between(400, 2_000))
      : usualTimeoutMs
  }

  private newName(kind: string): string {
    return `${kind}-${this.number}-${this.namesUsed++}`.toLowerCase()
  }
}

/**
 * Reports an id whose time differs too much from its operation. A wrong clock of a server must not
 * change ids.
 */
function checkIdTime(journal: Journal, createdId: string, startedAt: number): void {
  const id = decodeOpaque(createdId)?.parts.at(-1) ?? ''
  const at = timeOf(id as PostId).getTime()
  if (at >= startedAt - skewMsMax && at <= Date.now() + skewMsMax) return
  const detail = `the id ${id} is ${(at - Date.now()) / 1000} s ahead of the clock`
  journal.recordViolation('skewedIds', performance.now(), detail)
}

/** Codes after which the same mutation may succeed. */
const retryableCodes: ReadonlySet<string> = new Set(['UNAVAILABLE', 'NETWORK', 'ABANDONED'])
