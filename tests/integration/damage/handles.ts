import { keyOf } from '../../support/services.ts'
import type { Damage } from './row.ts'

/** Damage to the documents that name accounts. */
export const handleDamages: readonly Damage[] = [
  {
    name: 'the handle of an account is lost',
    noticed: ({ a }) => [`L6 handle ${a} "${a}"`],
    answer: 'repaired',
    clients: 'no user under the handle',
    inject: ({ services, a }) => services.collections.handles.deleteOne({ _id: a }),
  },
  {
    name: 'a handle names another account',
    noticed: ({ a }) => [`L6 handle ${a} "${a}"`],
    answer: 'repaired',
    clients: 'another user under the handle',
    inject: ({ services, a, c }) =>
      services.collections.handles.updateOne({ _id: a }, { $set: { account: c } }),
  },
  {
    name: 'a handle names a number',
    noticed: ({ a }) => [`L3 shape handles ${a}`],
    answer: 'repaired',
    clients: 'no user under the handle',
    inject: ({ services, a }) =>
      services.collections.handles.updateOne({ _id: a }, { $set: { account: 7 as never } }),
  },
  {
    name: 'two accounts have one handle',
    noticed: ({ a, c }) => [`L6 handle ${c} "${a}"`],
    answer: 'reported',
    how: 'nothing says whose it is',
    clients: 'one of them under the handle',
    inject: async ({ services, a, c }) => {
      await services.collections.users.updateOne({ _id: c }, { $set: { handle: a } })
      await services.collections.handles.deleteOne({ _id: c })
    },
  },
  {
    name: 'a handle names an account that has another one',
    noticed: ({ x }) => [`L6 spare-handle "${x}"`],
    answer: 'reported',
    clients: 'nothing',
    inject: ({ services, a, x }) => services.collections.handles.insertOne({ _id: x, account: a }),
  },
  {
    name: 'an account lacks its handle and subject',
    noticed: ({ a }) => [`L3 shape users ${a}`],
    answer: 'repaired',
    clients: 'no profile',
    inject: ({ services, a }) =>
      services.collections.users.updateOne({ _id: a }, { $unset: { handle: '', subject: '' } }),
  },
  {
    name: 'an account has an empty handle and subject',
    noticed: ({ a }) => [`L6 handle ${a} "${a}"`, `L6 subject ${a} "${keyOf(a)}"`],
    answer: 'repaired',
    clients: 'no user under the handle',
    endsOtherwise: true,
    inject: ({ services, a }) =>
      services.collections.users.updateOne({ _id: a }, { $set: { handle: '', subject: '' } }),
  },
  {
    name: 'an account has the subject of no one',
    noticed: ({ a, x }) => [`L6 subject ${a} "${keyOf(x)}"`],
    answer: 'reported',
    clients: 'nothing',
    inject: ({ services, a, x }) =>
      services.collections.users.updateOne({ _id: a }, { $set: { subject: keyOf(x) } }),
  },
  {
    name: 'the subject of an account is lost',
    noticed: ({ a }) => [`L6 subject ${a} "${keyOf(a)}"`],
    answer: 'repaired',
    clients: 'a person without an account',
    inject: ({ services, a }) => services.collections.subjects.deleteOne({ _id: keyOf(a) }),
  },
  {
    name: 'a subject names another account',
    noticed: ({ a }) => [`L6 subject ${a} "${keyOf(a)}"`],
    answer: 'repaired',
    clients: 'a person who acts as another user',
    inject: ({ services, a, c }) =>
      services.collections.subjects.updateOne({ _id: keyOf(a) }, { $set: { account: c } }),
  },
  {
    name: 'a handle and a subject have no account',
    noticed: ({ x }) => [`L6 spare-handle "${x}"`, `L6 spare-subject "${keyOf(x)}"`],
    answer: 'repaired',
    clients: 'a handle that no one can take',
    inject: async ({ services, x }) => {
      await services.collections.handles.insertOne({ _id: x, account: x })
      await services.collections.subjects.insertOne({ _id: keyOf(x), account: x })
    },
  },
]
