import { setTimeout as sleep } from 'node:timers/promises'
import { type PostId, timeOf } from '../src/lib/ids.ts'
import { decodeOpaque } from '../src/lib/opaque.ts'
import { choose } from './choose.ts'
import { send } from './graphql.ts'
import type { Journal } from './journal.ts'
import type { User } from './model.ts'
import { createUser, deleteUser, type Operation } from './operations.ts'
import { Random } from './random.ts'
import { readTimeline } from './reads.ts'
import type { Stage } from './stage.ts'

/** How long a mutation is repeated before its outcome counts as unknown. */
const repeatMsMax = 60_000
/** How long a patient client waits for one answer. */
const patienceMsMax = 30_000
const usersEach = 2
/** How far the time in an id may be from the operation that made it. */
const skewMsMax = 2_000

/** A client with users of its own, who do one thing after the other. Only it acts for them. */
export class Client {
  private readonly random: Random
  private readonly users: (User | undefined)[] = Array.from({ length: usersEach })
  private made = 0

  constructor(
    private readonly stage: Stage,
    private readonly number: number,
  ) {
    this.random = new Random(stage.seed, number)
  }

  /** Acts until the signal aborts and the operation under way has ended. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const at = Math.floor(this.random.next() * usersEach)
      const user = this.users[at]
      if (!user) this.users[at] = await this.openAccount()
      else if (this.random.next() < 0.003) this.users[at] = await this.closeAccount(user)
      else if (this.random.next() < 0.25) await readTimeline(this.stage, user, this.random)
      else {
        const operation = choose(this.stage.world, user, this.random, this.name('t'))
        if (operation) await this.perform(operation)
      }
      await sleep(this.random.between(5, 60))
    }
  }

  private async openAccount(): Promise<User | undefined> {
    const { model, crowd } = this.stage.world
    const operation = createUser(model, this.name('u'))
    if (!(await this.perform(operation))) return undefined
    crowd.push(operation.user)
    return operation.user
  }

  private async closeAccount(user: User): Promise<undefined> {
    const { crowd, recent } = this.stage.world
    crowd.splice(crowd.indexOf(user), 1)
    const others = recent.filter(({ author }) => author !== user.handle)
    recent.splice(0, recent.length, ...others)
    await this.perform(deleteUser(user))
  }

  /**
   * Repeats a mutation with one clientMutationId until a server answers with success or a refusal, at any server.
   * @returns whether it was acknowledged.
   */
  private async perform(operation: Operation): Promise<boolean> {
    const { journal, urls } = this.stage
    const { document, actor, writes, name } = operation
    const variables = { input: { ...operation.input, clientMutationId: this.name(name) } }
    const request = { document, variables, viewer: actor }
    const beganAt = Date.now()
    const deadline = performance.now() + repeatMsMax
    for (let attempt = 1; performance.now() < deadline; attempt++) {
      const startMs = performance.now()
      const answer = await send(this.random.pick(urls) ?? '', request, this.patienceMs(attempt))
      const endMs = performance.now()
      journal.request(startMs, endMs, answer)
      if (answer.data) {
        writes.end('acknowledged', endMs)
        const made = operation.done?.(answer.data)
        if (made !== undefined) checkTime(journal, made, beganAt)
        journal.acknowledge(endMs)
        return true
      }
      if (answer.code === 'INTERNAL_SERVER_ERROR') {
        journal.violate('internalErrors', endMs, `${name} by ${actor}: ${answer.message}`)
      } else if (!mayPass.has(answer.code)) {
        // An attempt without an answer may have taken effect, or may soon.
        writes.end(attempt === 1 ? 'refused' : 'unknown', endMs)
        return false
      }
      await sleep(this.random.between(50, 250))
    }
    writes.end('unknown', performance.now())
    return false
  }

  /** Some clients give up on their first attempt early, and repeat while the server still works on it. */
  private patienceMs(attempt: number): number {
    return attempt === 1 && this.random.next() < 0.2
      ? Math.round(this.random.between(400, 2_000))
      : patienceMsMax
  }

  private name(kind: string): string {
    return `${kind}-${this.number}-${this.made++}`.toLowerCase()
  }
}

/** An id is the time at which its object was made: no clock of a server may move it away from the operation. */
function checkTime(journal: Journal, made: string, beganAt: number): void {
  const id = decodeOpaque(made)?.parts.at(-1) ?? ''
  const at = timeOf(id as PostId).getTime()
  if (at >= beganAt - skewMsMax && at <= Date.now() + skewMsMax) return
  const detail = `the id ${id} is ${(at - Date.now()) / 1000} s ahead of the clock`
  journal.violate('skewedIds', performance.now(), detail)
}

/** Codes after which the same mutation may succeed. */
const mayPass: ReadonlySet<string> = new Set(['UNAVAILABLE', 'NETWORK', 'ABANDONED'])
