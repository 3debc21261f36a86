import type { Stamp, Stamping } from '../../../src/db/stamps.ts'
import type { UserId } from '../../../src/lib/ids.ts'

/** Answers equal queries again while their stamp is current, as servers do, whichever process has answered. */
export class AnswersAgain {
  private readonly kept = new Map<string, { readonly answer: unknown; readonly stamp: Stamp }>()

  /** @param onKept called for each answer from memory. */
  constructor(
    private readonly stampingOf: () => Stamping,
    private readonly onKept: () => void,
  ) {}

  /** A query that is answered again. */
  wrap<Asked, Answer>(
    reader: UserId,
    ask: (
      asked: Asked,
      stamping: Stamping,
    ) => Promise<{ answer: Answer; stamp: Stamp | undefined }>,
  ): (asked: Asked) => Promise<Answer> {
    return async (asked) => {
      const stamping = this.stampingOf()
      const key = JSON.stringify([reader, asked])
      const kept = this.kept.get(key)
      if (kept && (await stamping.isCurrent(kept.stamp))) {
        this.onKept()
        return kept.answer as Answer
      }
      const { answer, stamp } = await ask(asked, stamping)
      if (stamp) this.kept.set(key, { answer, stamp })
      return answer
    }
  }
}
