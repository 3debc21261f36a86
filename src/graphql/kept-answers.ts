import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { bytesOfStamp, type Stamp, Stamping } from '../db/stamps.ts'
import type { Versions } from '../db/versions.ts'
import type { KeptBounds } from '../feed/timeline/kept-pages.ts'
import { measureCache } from '../metrics/caches.ts'
import type { Charge } from './rate-limit.ts'

/** A rendered answer. It is sent again while its stamp is current. */
export interface KeptAnswer {
  readonly body: string
  readonly contentType: string
  readonly etag: string
  readonly stamp: Stamp
  /** What the operation cost, which each answer is charged. */
  readonly cost: number
  /** The operation in logs and metrics. */
  readonly operation: string | undefined
}

/** What is known about a request that was sent before. */
interface Visit {
  /** Undefined after the first request. */
  readonly answer: KeptAnswer | undefined
}

/** The share of the memory that one answer may take. */
const largestShare = 1 / 64

/** The answers of operations whose result has versions, in memory: from the second answer that may be kept. */
export class KeptAnswers {
  private readonly visits: LRUCache<string, Visit> | undefined
  private readonly countRead: (isHit: boolean) => void

  constructor({ bytesMax, keptMsMax }: KeptBounds) {
    const maxSize = Math.floor(bytesMax)
    this.visits =
      maxSize === 0
        ? undefined
        : new LRUCache({
            maxSize,
            maxEntrySize: Math.ceil(maxSize * largestShare),
            ttl: Math.max(1, Math.ceil(keptMsMax)),
            sizeCalculation: ({ answer }) => 300 + (answer ? bytesOf(answer) : 0),
          })
    this.countRead = measureCache('answers', () => this.visits?.calculatedSize ?? 0).countRead
  }

  /** The kept answer of a request. It may be out of date. */
  find(key: string): KeptAnswer | undefined {
    return this.visits?.get(key)?.answer
  }

  /** Counts whether a request was answered from memory. */
  countServed(isKept: boolean): void {
    this.countRead(isKept)
  }

  /** Keeps an answer, unless this is the first request. */
  keep(key: string, answer: KeptAnswer): void {
    this.visits?.set(key, { answer: this.visits.has(key) ? answer : undefined })
  }
}

const bytesOf = ({ body, stamp }: KeptAnswer): number => 600 + 2 * body.length + bytesOfStamp(stamp)

/** What a request of a viewer does with kept answers. */
export class Keeping {
  readonly stamping: Stamping
  /** What decides the whole answer. Undefined unless the answer may be kept. */
  private stamp: Stamp | undefined
  private cost: number | undefined
  /** What the request was charged already, for this cost. */
  private charged: { readonly cost: number; readonly charge: Charge | undefined } | undefined

  /** @param key names the viewer and everything of the request that decides the answer. */
  constructor(
    versions: Versions,
    readonly key: string,
  ) {
    this.stamping = new Stamping(versions)
  }

  /** Notes what decides the only field of the operation. */
  offerStamp(stamp: Stamp | undefined): void {
    this.stamp = stamp
  }

  noteCost(cost: number): void {
    this.cost = cost
  }

  /** Notes what was charged for a kept answer, which may be out of date. */
  noteCharge(cost: number, charge: Charge | undefined): void {
    this.charged = { cost, charge }
  }

  /** The charge for an operation of this cost, unless it is still to be charged. */
  chargeOf(cost: number): { readonly charge: Charge | undefined } | undefined {
    return this.charged?.cost === cost ? this.charged : undefined
  }

  /** Notes that the answer depends on more than its stamp says, or has errors. */
  refuse(): void {
    this.stamp = undefined
  }

  /** The answer that may be kept, once it is rendered. */
  answerOf(
    body: string,
    about: Pick<KeptAnswer, 'contentType' | 'operation'>,
  ): KeptAnswer | undefined {
    const { stamp, cost } = this
    if (!stamp || cost === undefined) return undefined
    return { body, stamp, cost, etag: etagOf(body), ...about }
  }
}

/** The strong entity tag of an answer. Equal answers of all processes have the same one. */
export const etagOf = (body: string): string =>
  `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`

/** Whether an If-None-Match header names an entity tag. */
export const namesEtag = (header = '', etag: string): boolean =>
  header.split(',').some((one) => ['*', etag, `W/${etag}`].includes(one.trim()))
