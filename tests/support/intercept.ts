import type { Collection, Db, Document } from 'mongodb'

/** A call of a collection's method, on its way to MongoDB. */
export interface Call {
  readonly collection: string
  readonly method: string
  /** May be changed before the call goes on. */
  readonly args: Document[]
}

/** The handlers of calls. */
export interface Interceptor {
  /** May change the arguments. */
  readonly change?: (call: Call) => void
  /** The call waits for its promise. */
  readonly before?: (call: Call) => Promise<void>
}

const methods = new Set([
  'findOne',
  'findOneAndUpdate',
  'findOneAndDelete',
  'insertOne',
  'insertMany',
  'updateOne',
  'updateMany',
  'deleteOne',
  'deleteMany',
  'bulkWrite',
])

/** A database whose calls can be watched, changed and delayed. */
export function intercepted(db: Db, interceptor: Interceptor): Db {
  const collection = (name: string) => wrapped(db.collection(name), interceptor)
  return new Proxy(db, {
    get: (target, property) => (property === 'collection' ? collection : own(target, property)),
  })
}

function wrapped(collection: Collection, { change, before }: Interceptor): Collection {
  const called = (method: string, args: Document[]): Call => {
    const call = { collection: collection.collectionName, method, args }
    change?.(call)
    return call
  }
  return new Proxy(collection, {
    get: (target, property) => {
      const real = own(target, property)
      if (typeof real !== 'function' || typeof property !== 'string') return real
      if (methods.has(property)) {
        return async (...args: Document[]) => {
          const call = called(property, args)
          await before?.(call)
          return real(...call.args)
        }
      }
      if (property !== 'find' && property !== 'aggregate') return real
      return (...args: Document[]) => {
        const call = called(property, args)
        const cursor = real(...call.args)
        const toArray = cursor.toArray.bind(cursor)
        cursor.toArray = async () => {
          await before?.(call)
          return toArray()
        }
        return cursor
      }
    },
  })
}

function own(target: object, property: string | symbol) {
  const value: unknown = Reflect.get(target, property, target)
  return typeof value === 'function' ? value.bind(target) : value
}
