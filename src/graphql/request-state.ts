import type { News } from '../timeline/pages/news.ts'
import type { Charge } from './rate-limit.ts'

/** What the steps that answer a request of a viewer tell those after them. */
export class RequestState {
  private charged: { readonly cost: number; readonly charge: Charge | undefined } | undefined
  private failure: Error | undefined
  /**
   * Whether the client must act on the answer, also if it had an equal one before. Then it has no
   * entity tag.
   */
  isNews = false

  /** Notes the news of an answer. */
  noteNews({ changed, count }: News): void {
    if (changed || count > 0) this.isNews = true
  }

  /** Notes what was charged for an operation of this cost, before Apollo executes it. */
  noteCharge(cost: number, charge: Charge | undefined): void {
    this.charged = { cost, charge }
  }

  /** The charge for an operation of this cost, unless it is still to be charged. */
  chargeOf(cost: number): { readonly charge: Charge | undefined } | undefined {
    return this.charged?.cost === cost ? this.charged : undefined
  }

  /** Notes why the answer failed before graphql-js began. */
  noteFailure(error: Error): void {
    this.failure = error
  }

  /**
   * Called by the resolver of the answer, so that nothing is read again. @throws what
   * {@link noteFailure} noted.
   */
  throwFailure(): void {
    if (this.failure) throw this.failure
  }
}
