import { setTimeout as sleep } from 'node:timers/promises'
import { shared } from '../lib/shared.ts'

/** How long the database may take to answer, and how long its answer is kept, in milliseconds. */
const [answerMsMax, keepMs] = [1_000, 500]

/** What `/readyz` says. Only `ready` has status 200. */
export type ReadyState = 'ready' | 'stopping' | 'the database does not answer'

/** Whether this process should get requests: its database answers, and it does not stop. */
export class Readiness {
  private stopping = false
  private readonly answers: () => Promise<boolean>

  /**
   * @param ping sends one command. However many probes come, it is called at most twice a second.
   */
  constructor(ping: () => Promise<unknown>) {
    const answered = async () => {
      await ping()
      return true
    }
    this.answers = shared(keepMs, () =>
      Promise.race([answered().catch(() => false), sleep(answerMsMax, false, { ref: false })]),
    )
  }

  /** From now on the state is `stopping`, and answers ask the client to close its connection. */
  stop(): void {
    this.stopping = true
  }

  get isStopping(): boolean {
    return this.stopping
  }

  /** One command, or none if a command was answered in the last half second. Never throws. */
  async state(): Promise<ReadyState> {
    if (this.stopping) return 'stopping'
    return (await this.answers()) ? 'ready' : 'the database does not answer'
  }
}
