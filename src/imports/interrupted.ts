/** A run that its signal ended between two batches. `soFar` is what it had come to; a repeat goes on from there. */
export class ImportInterrupted<SoFar> extends Error {
  override readonly name = 'ImportInterrupted'

  constructor(
    override readonly cause: Error,
    readonly soFar: SoFar,
  ) {
    super(cause.message, { cause })
  }
}

/** What a run that failed with `error` throws: with what it had come to, where its signal ended it. */
export const withSoFar = (
  error: unknown,
  signal: AbortSignal | undefined,
  soFar: () => unknown,
): unknown =>
  signal?.aborted && error === signal.reason && error instanceof Error
    ? new ImportInterrupted(error, soFar())
    : error
