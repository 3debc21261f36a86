import { requestTimeout } from './client.ts'
import type { Collections } from './collections.ts'
import { type Deployment, isOn, loadDeployment, type Mechanism } from './deployment.ts'

/** How long missing marks are not read again, in milliseconds. */
const marksAgeMsMax = 10_000

/** A deployment, and when it was read. */
type Marks = Deployment & { readonly readMs: number }

/** The mechanisms of the deployment that a process works on. An operator may set missing marks while it runs. */
export class Mechanisms {
  private marks: Marks | undefined
  /** The load of the marks that is under way. */
  private loading: Promise<Marks> | undefined

  constructor(private readonly collections: Pick<Collections, 'meta'>) {}

  /**
   * Whether this deployment has a mechanism: a row of `deployment.ts` says it. Up to two commands, every 10 s while a
   * mark is missing.
   */
  async isOn(mechanism: Mechanism): Promise<boolean> {
    return isOn(mechanism, await this.loadMarks())
  }

  private async loadMarks(): Promise<Marks> {
    const { marks } = this
    if (marks && (marks.missing.length === 0 || performance.now() - marks.readMs < marksAgeMsMax))
      return marks
    this.loading ??= this.readMarks().finally(() => {
      this.loading = undefined
    })
    return this.loading
  }

  private async readMarks(): Promise<Marks> {
    const deployment = await loadDeployment(this.collections.meta.db, requestTimeout)
    this.marks = { ...deployment, readMs: performance.now() }
    return this.marks
  }
}
