import type { LRUCache } from 'lru-cache'
import type { IdempotencyKey } from '../../../src/db/idempotency.ts'
import type { Handle, UserId } from '../../../src/lib/ids.ts'
import { resolveMentions } from '../../../src/posts/content.ts'
import type { Services } from '../../../src/services.ts'
import type { User } from '../../../src/users/profile.ts'
import { subjectKey } from '../../../src/users/subjects.ts'
import { isNotTold } from './poll-faults.ts'

type Create = (
  account: UserId,
  opening: Parameters<Services['users']['create']>[1],
  key: IdempotencyKey | undefined,
) => Promise<User | undefined>

/** Mutants of accounts, handles and subjects, with known faults. */
export const accountMutants: Readonly<Record<string, (services: Services) => void>> = {
  'a rename is not told': isNotTold('users'),
  'a former handle names no account': ({ users }) => {
    const byHandles = users.byHandles.bind(users)
    users.byHandles = async (handles) =>
      new Map([...(await byHandles(handles))].filter(([handle, user]) => user.handle === handle))
  },
  'a former handle names its account when it is free': ({ users, collections }) => {
    users.byHandles = async (handles) => {
      const docs = await collections.handles.find({ _id: { $in: [...handles] } }).toArray()
      const owners = await users.byIds(docs.map(({ account }) => account as UserId))
      return new Map(
        docs.flatMap(({ _id, account }) => {
          const owner = owners.get(account as UserId)
          return owner ? ([[_id as Handle, owner]] as [Handle, User][]) : []
        }),
      )
    }
  },
  'a mention names the account that has the handle now': (services) => {
    const { users, collections, handles } = services
    const resolveAgain = async () => {
      const mentioning = { 'facets.kind': 'MENTION' }
      for await (const { _id, author, ...content } of collections.posts.find(mentioning)) {
        const { facets = [] } = await resolveMentions({ attachments: [], ...content }, handles)
        await collections.posts.updateOne({ author, _id }, { $set: { facets } })
      }
    }
    for (const name of ['register', 'update'] as const) {
      const write = users[name].bind(users) as (...call: unknown[]) => Promise<User | undefined>
      users[name] = async (...call: unknown[]) => {
        const written = await write(...call)
        await resolveAgain()
        return written
      }
    }
  },
  'an account that returns has the id of the deleted one': ({ users, collections }) => {
    const create: Create = users.create.bind(users)
    const reuse: Create = async (account, opening, key) => {
      const _id = subjectKey(opening.subject ?? { issuer: '', sub: account })
      const before = await collections.subjects.findOne({ _id })
      const id = (before?.account ?? account) as UserId
      return create(id, opening, key && { ...key, viewer: id })
    }
    Object.assign(users, { create: reuse })
  },
  'a handle is free as soon as it is given up': ({ handles }) => {
    Object.assign(handles, { isFree: ({ until }: { until?: Date }) => until !== undefined })
  },
  'a handle that was given up is never free': ({ handles }) => {
    Object.assign(handles, { isFree: () => false })
  },
  'a subject is free before its account is forgotten': ({ subjects, collections }) => {
    const release = subjects.release.bind(subjects)
    subjects.release = async (account, key) => {
      await release(account, key)
      await collections.subjects.deleteOne({ _id: key, account })
    }
  },
  'a subject is kept for a minute after the deletion alone': ({ subjects, collections }) => {
    const now = subjects as unknown as { readonly parts: { readonly now: () => number } }
    subjects.release = async (account, _id) => {
      const doc = await collections.users.findOne({ _id: account })
      const until = new Date((doc?.deletedAt?.getTime() ?? now.parts.now()) + 60_000)
      await collections.subjects.updateOne({ _id, account }, { $set: { until } })
    }
  },
  'a subject without an account is remembered': ({ subjects }) => {
    const absent = new Set<string>()
    const [load, forget] = [subjects.load.bind(subjects), subjects.forget.bind(subjects)]
    subjects.load = async (subject) => {
      const key = subjectKey(subject)
      if (absent.has(key)) return undefined
      const account = await load(subject)
      if (account === undefined) absent.add(key)
      return account
    }
    subjects.forget = (subject) => {
      absent.delete(subjectKey(subject))
      forget(subject)
    }
  },
  'an account is remembered for two minutes': ({ subjects }) => {
    const { kept } = subjects as unknown as { readonly kept: LRUCache<string, UserId> }
    const set = kept.set.bind(kept)
    kept.set = (key, account) => set(key, account, { ttl: 120_000 })
  },
}
