import { setTimeout as sleep } from 'node:timers/promises'
import type { CDPSession, Page } from 'playwright-core'

const quietMs = 250

/** What a browser sent to the GraphQL server, and what came back. */
export interface Traffic {
  /** Requests without preflights. */
  readonly requests: number
  readonly preflights: number
  /** Answers with status 304. */
  readonly unchanged: number
  /** Bytes of paths with their parameters, and of bodies. */
  readonly sentBytes: number
  /** The names of the operations, in the order of the requests. */
  readonly operations: readonly string[]
}

/** Watches the requests of a page to GraphQL, as Chromium's network layer reports them. */
export class TrafficWatch {
  private readonly requests: { operation: string; bytes: number }[] = []
  private readonly preflights = new Set<string>()
  /**
   * The requests without an answer, but no preflights: Chromium reports no end of the preflight of
   * an aborted request, and may report it after that request has ended, or after its page was left.
   */
  private readonly pending = new Set<string>()
  private unchanged = 0
  private changedAt = Date.now()

  private constructor(readonly session: CDPSession) {
    session.on('Network.requestWillBeSent', ({ requestId, request, type }) => {
      if (!request.url.includes('/graphql')) return
      this.changedAt = Date.now()
      if (type === 'Preflight' || request.method === 'OPTIONS') {
        this.preflights.add(requestId)
        return
      }
      this.pending.add(requestId)
      const { postData = '' } = request
      const { pathname, search, searchParams } = new URL(request.url)
      const operation = postData
        ? (JSON.parse(postData) as { operationName: string }).operationName
        : (searchParams.get('operationName') ?? '')
      const bytes = Buffer.byteLength(pathname + search + postData)
      this.requests.push({ operation, bytes })
    })
    // The browser turns an answer 304 into its kept answer, of which this event has the real
    // status.
    session.on('Network.responseReceivedExtraInfo', ({ statusCode }) => {
      if (statusCode === 304) this.unchanged++
    })
    const end = ({ requestId }: { requestId: string }) => {
      if (this.pending.delete(requestId)) this.changedAt = Date.now()
    }
    session.on('Network.loadingFinished', end)
    session.on('Network.loadingFailed', end)
    // A page that is left reports no end of its requests.
    session.on('Page.frameNavigated', () => this.pending.clear())
  }

  /** Waits until nothing was sent or answered for a quarter of a second. */
  async settle(): Promise<void> {
    this.changedAt = Date.now()
    while (this.pending.size > 0 || Date.now() - this.changedAt < quietMs) await sleep(20)
  }

  static async open(page: Page): Promise<TrafficWatch> {
    const session = await page.context().newCDPSession(page)
    await session.send('Network.enable')
    await session.send('Page.enable')
    return new TrafficWatch(session)
  }

  /** What was sent since the last call. */
  take(): Traffic {
    const sent = this.requests.splice(0)
    const preflights = this.preflights.size
    this.preflights.clear()
    const { unchanged } = this
    this.unchanged = 0
    return {
      requests: sent.length,
      preflights,
      unchanged,
      sentBytes: sent.reduce((sum, { bytes }) => sum + bytes, 0),
      operations: sent.map(({ operation }) => operation),
    }
  }

  /** Adds this time to every answer, in milliseconds; 0: none. */
  async delay(latency: number): Promise<void> {
    await this.session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency,
      downloadThroughput: -1,
      uploadThroughput: -1,
    })
  }
}
