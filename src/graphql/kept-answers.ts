import { type KeptBounds, KeptValues } from '../db/kept-values.ts'
import { bytesOfStamp, type Stamp, Stamping } from '../db/stamps.ts'
import type { Versions } from '../db/versions.ts'
import { etagOf } from '../http/entity-tags.ts'
import { type AnswerTemplate, bytesOfTemplate, type Hole, templateOf } from './answer-template.ts'
import type { Charge } from './rate-limit.ts'

/** A rendered answer. It is sent again while its stamp is current, with current values in its holes. */
export interface KeptAnswer {
  readonly template: AnswerTemplate
  readonly contentType: string
  /** Undefined if the answer has holes. */
  readonly etag: string | undefined
  readonly isNews: boolean
  readonly stamp: Stamp
  /** What the operation cost, which each answer is charged. */
  readonly cost: number
  /** The operation in logs and metrics. */
  readonly operation: string | undefined
}

/** Number of failures after which an answer is not rendered again. */
const failuresMax = 2

/** What is known about a request that was sent before. */
interface Visit {
  /** Undefined after the first request. */
  readonly answer: KeptAnswer | undefined
  /** How often the answer could not be kept. */
  readonly failures: number
}

/** The answers of operations whose result has versions, in memory: from the second answer that may be kept. */
export class KeptAnswers {
  private readonly visits: KeptValues<Visit>

  constructor(bounds: KeptBounds) {
    this.visits = new KeptValues('answers', bounds, bytesOf)
  }

  /** The kept answer of a request. It may be out of date. */
  find(key: string): KeptAnswer | undefined {
    return this.visits.get(key)?.answer
  }

  /** Counts whether a request was answered from memory. */
  countServed(isKept: boolean): void {
    this.visits.countServed(isKept)
  }

  /** Keeps an answer, unless this is the first request. Only then it is not rendered. */
  keep(key: string, render: () => KeptAnswer | undefined): void {
    const visit = this.visits.get(key)
    if (!visit || visit.failures >= failuresMax) {
      this.visits.set(key, visit ?? { answer: undefined, failures: 0 })
      return
    }
    this.visits.set(key, { answer: render(), failures: 0 })
    // It has no template, or is too large.
    if (this.visits.get(key)?.answer === undefined)
      this.visits.set(key, { answer: undefined, failures: visit.failures + 1 })
  }
}

const bytesOf = ({ answer }: Visit): number =>
  answer ? 900 + bytesOfTemplate(answer.template) + bytesOfStamp(answer.stamp) : 300

/** What a request of a viewer does with kept answers. */
export class Keeping {
  readonly stamping: Stamping
  /** What decides the whole answer but its holes. Undefined unless the answer may be kept. */
  private stamp: Stamp | undefined
  private holesOf: () => readonly Hole[] = () => []
  private cost: number | undefined
  /** Whether the client must act on the answer, also if it had an equal one before. Then it has no entity tag. */
  isNews = false
  /** What the request was charged already, for this cost. */
  private charged: { readonly cost: number; readonly charge: Charge | undefined } | undefined

  /** @param key names the viewer and everything of the request that decides the answer. */
  constructor(
    versions: Versions,
    readonly key: string,
  ) {
    this.stamping = new Stamping(versions)
  }

  /** Notes what decides the only field of the operation, but its holes. Default: it has none. */
  offerStamp(stamp: Stamp | undefined, holesOf: () => readonly Hole[] = () => []): void {
    this.stamp = stamp
    this.holesOf = holesOf
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

  /** Whether the answer may be kept. */
  get mayKeep(): boolean {
    return this.stamp !== undefined && this.cost !== undefined
  }

  /** The rendered answer as it may be kept. Undefined if it may not, or if a hole has no value. */
  answerOf(
    body: string,
    about: Pick<KeptAnswer, 'contentType' | 'operation'>,
  ): KeptAnswer | undefined {
    const { stamp, cost, isNews } = this
    if (!stamp || cost === undefined) return undefined
    const template = templateOf(body, this.holesOf())
    if (!template) return undefined
    const etag = template.holes.length === 0 ? etagOf(body) : undefined
    return { template, stamp, cost, etag, isNews, ...about }
  }
}
