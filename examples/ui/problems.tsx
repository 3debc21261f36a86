import { useSyncExternalStore } from 'react'
import { createStore } from './store'

const problem = createStore('')

/** What went wrong, for people. */
export const messageOf = (error: unknown): string => {
  if (error instanceof TypeError) return 'The server cannot be reached.'
  return error instanceof Error ? error.message : String(error)
}

/** Shows that an action failed, until it is dismissed. Clients call it after they have taken the action back. */
export const reportProblem = (error: unknown): void => problem.set(messageOf(error))

/** The last failed action. */
export function FailedAction() {
  const message = problem.use()
  if (!message) return null
  return (
    <div role="alert" className="toast">
      <p>{message}</p>
      <button type="button" onClick={() => problem.set('')}>
        Dismiss
      </button>
    </div>
  )
}

/** In place of what could not be loaded. */
export function Problem({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  return (
    <div role="alert" className="problem">
      <p>{messageOf(error)}</p>
      <button type="button" onClick={onRetry}>
        Try again
      </button>
    </div>
  )
}

const subscribe = (listener: () => void) => {
  addEventListener('online', listener)
  addEventListener('offline', listener)
  return () => {
    removeEventListener('online', listener)
    removeEventListener('offline', listener)
  }
}

export function Offline() {
  const isOnline = useSyncExternalStore(subscribe, () => navigator.onLine)
  return (
    <div role="status" className="offline">
      {isOnline ? null : 'You are offline. New posts appear when you are back.'}
    </div>
  )
}
