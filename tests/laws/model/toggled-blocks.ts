import { setTimeout as sleep } from 'node:timers/promises'
import { engagementKinds } from '../../../src/engagement/kinds.ts'
import { DomainError } from '../../../src/errors.ts'
import type { Services } from '../../../src/services.ts'
import { persist } from '../../support/eventually.ts'
import { handle, openAccounts } from '../../support/services.ts'

/**
 * What is certain of a block between two users: a write of it that is under way leaves both
 * possible.
 */
interface Certain {
  state: 'OPEN' | 'BLOCKED' | 'EITHER'
  changes: number
}

let scenes = 0

/**
 * Blocks come and go between a user and an author, each by one of the processes, while the user
 * engages with the author's post through all of them.
 * @returns how many answers there were of each sort, and those that no order of the writes
 *   explains.
 */
export async function toggleBlocks(processes: readonly Services[], toggles: number) {
  const [first] = processes as [Services]
  const [user, author] = ['user', 'author'].map((one) => handle(`toggled${scenes}-${one}`)) as [
    ReturnType<typeof handle>,
    ReturnType<typeof handle>,
  ]
  scenes++
  await openAccounts(first, [user, author])
  const { id } = await first.posts.create(author, { text: 'toggled' })
  const post = { id, author }
  const certain: Certain = { state: 'OPEN', changes: 0 }
  const [tally, problems] = [new Map<string, number>(), [] as string[]]
  let [isOver, sure] = [false, 0]

  const engage = async (services: Services, at: number) => {
    const kind = engagementKinds[at % engagementKinds.length] ?? 'likes'
    while (!isOver) {
      const before = { ...certain }
      const entry = await services.engagements
        .add(kind, user, post, { text: 'toggled' })
        .then(({ entry }) => entry, errorCode)
      const answer = typeof entry === 'string' ? entry : 'changed'
      const isAnswered = answer !== 'UNAVAILABLE' && before.state !== 'EITHER'
      const isSure = isAnswered && before.changes === certain.changes
      const right = before.state === 'OPEN' ? 'changed' : 'NOT_FOUND'
      if (isSure) sure++
      if (isSure && answer !== right) problems.push(`${kind}: ${answer} while ${before.state}`)
      const name = isSure ? `${answer} while ${before.state}` : 'either'
      tally.set(name, (tally.get(name) ?? 0) + 1)
      if (typeof entry === 'string') continue
      await persist(() =>
        kind === 'comments'
          ? services.engagements.removeById({ kind, post, id: entry.id }, user)
          : services.engagements.remove(kind, user, post),
      )
    }
  }
  const toggle = async () => {
    for (let n = 0; n < toggles; n++) {
      const { restrictions } = processes[n % processes.length] as Services
      const isBlock = n % 2 === 0
      Object.assign(certain, { state: 'EITHER', changes: certain.changes + 1 })
      await persist(() => restrictions[isBlock ? 'block' : 'unblock'](author, user))
      certain.state = isBlock ? 'BLOCKED' : 'OPEN'
      // Every process answers once more, or one of them twice.
      for (const before = sure; !isOver && sure < before + processes.length; ) await sleep(2)
    }
  }
  const end = () => {
    isOver = true
  }
  const engaged = processes.map((services, at) => engage(services, at).finally(end))
  await Promise.all([toggle().finally(end), ...engaged])
  return { tally, problems }
}

function errorCode(error: unknown): string {
  if (error instanceof DomainError) return error.code
  throw error
}
