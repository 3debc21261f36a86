const minuteMs = 60_000

/** Work that is done every minute until {@link stop}. */
export interface Repeated {
  /** Ends the repetitions, and waits for those that are due. Final. */
  readonly stop: () => Promise<void>
}

/** Does `work` in a minute, and every minute after. A repetition waits for the one before it. */
export function everyMinute(
  work: () => Promise<void>,
  onFailure: (error: unknown) => void,
): Repeated {
  let running = Promise.resolve()
  const timer = setInterval(() => {
    running = running.then(work).catch(onFailure)
  }, minuteMs)
  timer.unref()
  return {
    stop: () => {
      clearInterval(timer)
      return running
    },
  }
}
