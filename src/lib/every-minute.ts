const minuteMs = 60_000

/** Work that is done every minute until {@link stop}. */
export interface Repeated {
  /** Ends the repetitions, and waits for the one that runs. Final. */
  readonly stop: () => Promise<void>
}

/** Does `work` in a minute, and every minute after, but not while it still runs. */
export function everyMinute(
  work: () => Promise<void>,
  onFailure: (error: unknown) => void,
): Repeated {
  let running: Promise<void> | undefined
  const run = async () => {
    await work().catch(onFailure)
    running = undefined
  }
  const timer = setInterval(() => {
    running ??= run()
  }, minuteMs)
  timer.unref()
  return {
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }
}
