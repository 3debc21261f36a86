import { useEffect, useEffectEvent } from 'react'
import { type Attention, startPolling } from './polling'
import { pollMs } from './settings'

const browser: Attention = {
  isAway: () => document.hidden || !navigator.onLine,
  subscribe: (listener) => {
    addEventListener('online', listener)
    document.addEventListener('visibilitychange', listener)
    return () => {
      removeEventListener('online', listener)
      document.removeEventListener('visibilitychange', listener)
    }
  },
}

/** Polls while a component is shown and the browser is online and shows the page. */
export function usePolling(poll: () => Promise<unknown>): void {
  const pollNow = useEffectEvent(poll)
  useEffect(() => startPolling(() => pollNow(), browser, pollMs), [])
}
