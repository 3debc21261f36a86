import { useEffect, useEffectEvent } from 'react'
import { pollMs } from './settings.ts'

/**
 * Calls `poll` again and again, each time `pollMs` after the last call has ended. While the page is hidden or the browser is
 * offline, it waits, and then calls at once.
 */
export function usePolling(poll: () => Promise<unknown>): void {
  const pollNow = useEffectEvent(poll)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let isRunning = false
    let isOver = false
    const isPaused = () => isOver || document.hidden || !navigator.onLine
    const run = async () => {
      clearTimeout(timer)
      if (isRunning || isPaused()) return
      isRunning = true
      await pollNow().catch(() => undefined)
      isRunning = false
      wait()
    }
    const wait = () => {
      if (!isPaused()) timer = setTimeout(run, pollMs)
    }
    wait()
    addEventListener('online', run)
    document.addEventListener('visibilitychange', run)
    return () => {
      isOver = true
      clearTimeout(timer)
      removeEventListener('online', run)
      document.removeEventListener('visibilitychange', run)
    }
  }, [])
}
