import { type Core, defineFeature } from '../feature.ts'
import { checkAccounts } from '../integrity/invariants/accounts.ts'
import { ReservedNames } from './names.ts'
import { UserStats } from './stats.ts'
import { Users } from './users.ts'

/** Accounts: profiles, handles and counters. All features take part in the end of an account: see `features.ts`. */
export const accounts = defineFeature({
  name: 'accounts',
  reactions: {},
  create: ({ config, collections, outbox, transactions, now }: Core) => {
    const stats = new UserStats(collections)
    const reserved = new ReservedNames(config.users.reservedHandles)
    return { stats, users: new Users({ collections, stats, outbox, transactions, reserved, now }) }
  },
  tasks: () => ({}),
  removal: () => ({}),
  invariants: { counted: [checkAccounts] },
})
