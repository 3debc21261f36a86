import { type Core, defineFeature, shareOfMemory } from '../feature.ts'
import { checkAccounts } from '../integrity/invariants/accounts.ts'
import { checkHandlesAndSubjects } from '../integrity/invariants/handles-and-subjects.ts'
import { HandleDesk } from './handle-desk.ts'
import { Handles } from './handles.ts'
import { KeptAccounts } from './kept-accounts.ts'
import { ReservedNames } from './names.ts'
import { UserStats } from './stats.ts'
import { Subjects } from './subjects.ts'
import { Users } from './users.ts'

/**
 * Accounts: profiles, handles and counters. All features take part in the end of an account: see
 * `features.ts`.
 */
export const accounts = defineFeature({
  name: 'accounts',
  reactions: {},
  create: (core: Core) => {
    const { config, collections, outbox, transactions, now } = core
    const stats = new UserStats(collections)
    const reserved = new ReservedNames(config.users.reservedHandles)
    const handles = new Handles({ collections, stats, reserved, now })
    const subjects = new Subjects({ collections, now })
    const { handleReservedDays } = config.users
    const users = new Users({
      ...{ collections, stats, outbox, transactions, reserved, handles, subjects, now },
      handleReservedDays,
    })
    const handleDesk = new HandleDesk({
      ...{ collections, transactions, reserved, handles, handleReservedDays, now },
    })
    const keptAccounts = new KeptAccounts({ users, stats, ...shareOfMemory(core, 1 / 8) })
    return { stats, handles, handleDesk, subjects, users, keptAccounts }
  },
  lists: () => ({}),
  tasks: () => ({}),
  periodic: () => [],
  removal: () => ({}),
  invariants: { counted: [checkAccounts, checkHandlesAndSubjects] },
})
