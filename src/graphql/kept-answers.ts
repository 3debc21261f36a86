import { Memory } from '../db/memory.ts'
import { bytesOfStamp, type Stamp, type Stamping } from '../db/stamps.ts'
import { etagOf } from '../http/entity-tags.ts'
import type { TimeId } from '../lib/ids.ts'
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

/** How often an answer must be sent again to be worth its versions, which cost about as much as a page. */
const servedMin = 2

/** How many answers in a row must list what the last one did before the next is kept, if the last kept ones changed too soon. */
const [restMin, restMax] = [1, 4]

/** What is known about a request that was sent before. */
interface Visit {
  /** Undefined after the first request, and while the answer changes. */
  readonly answer: KeptAnswer | undefined
  /** How often the answer was sent again. */
  served: number
  /** How often the answer could not be kept. */
  readonly failures: number
  /** What the last answer listed. */
  readonly listed: string
  /** How many answers in a row listed what the one before did. */
  readonly rests: number
  /** How many of them are needed before the next answer is kept. */
  readonly restsMin: number
}

/**
 * The answers of operations whose result has versions, in memory: from the second answer on. An answer that changed before
 * it was used costs versions for nothing, so the next one is kept after some answers that list the same. The answer used
 * longest ago is dropped first.
 */
export class KeptAnswers {
  private readonly visits: Memory<Visit>

  /**
   * @param bytesMax estimated bytes in memory. 0: nothing is kept.
   * @param keptMsMax how long an answer is kept, in milliseconds.
   */
  constructor(bounds: { readonly bytesMax: number; readonly keptMsMax: number }) {
    this.visits = new Memory({ ...bounds, name: 'answers', bytesOf })
  }

  /** Counts whether a request was answered from memory. */
  countServed(isKept: boolean): void {
    this.visits.countRead(isKept)
  }

  /** The kept answer of a request. It may be out of date. */
  find(key: string): KeptAnswer | undefined {
    return this.visits.get(key)?.answer
  }

  /** Whether a request was sent before, so that its answer is worth a stamp. */
  isWorthKeeping(key: string): boolean {
    const visit = this.visits.get(key)
    return visit !== undefined && visit.rests >= visit.restsMin && visit.failures < failuresMax
  }

  /** Notes that the kept answer of a request was sent again. */
  noteServed(key: string): void {
    const visit = this.visits.get(key)
    if (visit) visit.served++
  }

  /** Drops an answer that is out of date. @returns whether the next one is kept. */
  outdate(key: string, answer: KeptAnswer): boolean {
    const visit = this.visits.get(key)
    if (visit?.answer === answer) {
      const restsMin =
        visit.served >= servedMin ? 0 : Math.min(restMax, Math.max(restMin, 2 * visit.restsMin))
      this.visits.set(key, { ...visit, answer: undefined, served: 0, rests: 0, restsMin })
    }
    return this.isWorthKeeping(key)
  }

  /** Notes a request whose next answer may be kept. @param listed what its answer lists. */
  note(key: string, listed: string): void {
    const visit = this.visits.get(key) ?? firstVisit
    if (visit.answer) return
    const rests = visit.listed === listed ? visit.rests + 1 : 0
    this.visits.set(key, { ...visit, listed, rests })
  }

  /**
   * Keeps the answer of a request.
   * @param answer undefined if it has no template.
   * @param listed what it lists.
   */
  keep(key: string, answer: KeptAnswer | undefined, listed: string): void {
    const visit = this.visits.get(key) ?? firstVisit
    this.visits.set(key, { ...visit, answer, served: 0, failures: 0, listed })
    // It has no template, or is too large.
    if (this.find(key) === undefined)
      this.visits.set(key, { ...visit, answer: undefined, failures: visit.failures + 1 })
  }
}

const firstVisit: Visit = {
  answer: undefined,
  served: 0,
  failures: 0,
  listed: '',
  rests: 0,
  restsMin: 0,
}

const bytesOf = ({ answer }: Visit): number =>
  answer ? 900 + bytesOfTemplate(answer.template) + bytesOfStamp(answer.stamp) : 300

/** What decides the whole answer but its holes. */
interface Offer {
  readonly stamp: Stamp | undefined
  /** What the answer lists. */
  readonly listed: string
  /** The template of the rendered answer. */
  readonly templateOf: (body: string) => AnswerTemplate | undefined
}

/** What a page lists, for {@link Keeping.offerStamp}. */
export const listedIn = (items: readonly { readonly at: TimeId }[]): string =>
  `${items.length} ${items[0]?.at} ${items.at(-1)?.at}`

/** What a request of a viewer does with kept answers. */
export class Keeping {
  /** Undefined unless the answer depends only on what may have a stamp. */
  private offer: Offer | undefined
  private cost: number | undefined
  private hasNews = false
  private failure: Error | undefined
  /** What the request was charged already, for this cost. */
  private charged: { readonly cost: number; readonly charge: Charge | undefined } | undefined

  /**
   * @param key names the viewer and everything of the request that decides the answer.
   * @param versions of a request whose answer is worth a stamp. Undefined: its answer is not kept, so it reads none.
   */
  constructor(
    readonly key: string,
    private versions: Stamping | undefined,
  ) {}

  /** The versions for the stamp of the answer. Undefined: the answer is not kept. */
  get stamping(): Stamping | undefined {
    return this.versions
  }

  /** The answer will not be kept. */
  giveUp(): void {
    this.versions = undefined
  }

  /**
   * Notes what decides the only field of the operation, but its holes. Default: it has none.
   * @param stamp undefined if no versions were read, or something without a version decides the field.
   * @param listed what the answer lists: equal texts for answers that probably are equal.
   */
  offerStamp(
    stamp: Stamp | undefined,
    listed: string,
    holesOf: () => readonly Hole[] = () => [],
  ): void {
    this.offer = { stamp, listed, templateOf: (body) => templateOf(body, holesOf()) }
  }

  /** As {@link offerStamp}, of an answer that was rendered from a template. */
  offerTemplate(stamp: Stamp | undefined, listed: string, template: AnswerTemplate): void {
    this.offer = { stamp, listed, templateOf: () => template }
  }

  /** Whether the client must act on the answer, also if it had an equal one before. Then it has no entity tag. */
  get isNews(): boolean {
    return this.hasNews
  }

  /** Makes the answer {@link isNews}. */
  noteNews(): void {
    this.hasNews = true
  }

  /** Notes why the answer failed before graphql-js began. */
  noteFailure(error: Error): void {
    this.failure = error
  }

  /** Called by the resolver of the answer, so that nothing is read again. @throws what {@link noteFailure} noted. */
  throwFailure(): void {
    if (this.failure) throw this.failure
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
    this.offer = undefined
  }

  /** Keeps the rendered answer if it has a stamp. Otherwise notes the request if its next answer may have one. */
  keepIn(answers: KeptAnswers, body: string, about: AnswerLabels): void {
    const { key, offer, cost, isNews } = this
    if (!offer || cost === undefined) return
    const { stamp, listed } = offer
    if (!stamp) {
      answers.note(key, listed)
      return
    }
    const template = offer.templateOf(body)
    const etag = template?.holes.length === 0 ? etagOf(body) : undefined
    answers.keep(key, template && { template, stamp, cost, etag, isNews, ...about }, listed)
  }
}

type AnswerLabels = Pick<KeptAnswer, 'contentType' | 'operation'>
