import { useSyncExternalStore } from 'react'

/** A value outside of React. Components that use it render again when it changes. */
export interface Store<Value> {
  readonly get: () => Value
  readonly set: (value: Value) => void
  readonly use: () => Value
}

export function createStore<Value>(first: Value): Store<Value> {
  let value = first
  const listeners = new Set<() => void>()
  const get = () => value
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  const set = (next: Value) => {
    value = next
    for (const listener of listeners) listener()
  }
  return { get, set, use: () => useSyncExternalStore(subscribe, get) }
}
