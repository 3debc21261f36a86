import type { Db, Document, RunCommandOptions } from 'mongodb'
import { gate } from './jobs.ts'

/** A command that waits. */
export interface Held {
  /** Resolves once the command waits. */
  readonly reached: Promise<void>
  /** Lets it go on. */
  readonly release: () => void
}

interface Hold {
  readonly at: 'sent' | 'answered'
  readonly reached: ReturnType<typeof gate>
  readonly released: ReturnType<typeof gate>
}

/** A database whose commands of `db.command` can be held. */
export class HeldCommands {
  readonly db: Db
  /** The last answer to each command, by its name. */
  readonly answers = new Map<string, Document>()
  private readonly holds = new Map<string, Hold>()

  constructor(db: Db) {
    const command = (sent: Document, options?: RunCommandOptions) => this.run(db, sent, options)
    this.db = new Proxy(db, {
      get: (target, property) => {
        if (property === 'command') return command
        const value = Reflect.get(target, property, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }

  /**
   * Holds the next command of this name.
   * @param at 'sent': before it is sent. 'answered': when its answer has arrived.
   */
  hold(name: string, at: Hold['at']): Held {
    const hold = { at, reached: gate(), released: gate() }
    this.holds.set(name, hold)
    return { reached: hold.reached.opened, release: hold.released.open }
  }

  private async run(db: Db, sent: Document, options?: RunCommandOptions): Promise<Document> {
    const [name = ''] = Object.keys(sent)
    const hold = this.holds.get(name)
    this.holds.delete(name)
    const wait = async (at: Hold['at']) => {
      if (hold?.at !== at) return
      hold.reached.open()
      await hold.released.opened
    }
    await wait('sent')
    const answer = await db.command(sent, options)
    this.answers.set(name, answer)
    await wait('answered')
    return answer
  }
}
