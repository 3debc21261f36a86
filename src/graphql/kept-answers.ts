import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type Stamp, Stamping } from '../db/stamps.ts'
import type { Versions } from '../db/versions.ts'
import type { KeptBounds } from '../feed/timeline/kept-pages.ts'
import { measureCache } from '../metrics/caches.ts'

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

/** The answers of operations whose result has versions, in memory. */
export class KeptAnswers {
  private readonly answers: LRUCache<string, KeptAnswer> | undefined
  private readonly countRead: (isHit: boolean) => void

  constructor({ bytesMax, keptMsMax }: KeptBounds) {
    this.answers =
      bytesMax === 0
        ? undefined
        : new LRUCache({
            maxSize: bytesMax,
            ttl: Math.max(1, Math.ceil(keptMsMax)),
            sizeCalculation: ({ body, stamp }) =>
              600 + 2 * body.length + 150 * stamp.subjects.length,
          })
    this.countRead = measureCache('answers', () => this.answers?.calculatedSize ?? 0).countRead
  }

  /** The kept answer of a request, if nothing has changed since. At most one command, shared. */
  async findCurrent(key: string, stamping: Stamping): Promise<KeptAnswer | undefined> {
    const answer = this.answers?.get(key)
    const isCurrent = answer !== undefined && (await stamping.isCurrent(answer.stamp))
    this.countRead(isCurrent)
    return isCurrent ? answer : undefined
  }

  keep(key: string, answer: KeptAnswer): void {
    this.answers?.set(key, answer)
  }
}

/** What a request of a viewer does with kept answers. */
export class Keeping {
  readonly stamping: Stamping
  /** What decides the whole answer. Undefined unless the answer may be kept. */
  private stamp: Stamp | undefined
  private cost: number | undefined

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

  /** Notes that the answer depends on more than its stamp says, or has errors. */
  refuse(): void {
    this.stamp = undefined
  }

  /** The answer that may be kept, once it is rendered. */
  answerOf(
    body: string,
    about: Pick<KeptAnswer, 'contentType' | 'etag' | 'operation'>,
  ): KeptAnswer | undefined {
    const { stamp, cost } = this
    return stamp && cost !== undefined ? { body, stamp, cost, ...about } : undefined
  }
}

/** The strong entity tag of an answer. Equal answers of all processes have the same one. */
export const etagOf = (body: string): string =>
  `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`

/** Whether an If-None-Match header names an entity tag. */
export const namesEtag = (header = '', etag: string): boolean =>
  header.split(',').some((one) => ['*', etag, `W/${etag}`].includes(one.trim()))
