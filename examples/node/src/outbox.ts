/** Keeps texts while the app is closed: `localStorage`, or AsyncStorage of React Native. */
export interface TextStorage {
  getItem(key: string): string | null | Promise<string | null>
  setItem(key: string, text: string): unknown
}

/** A mutation that waits. */
export interface Letter {
  readonly kind: string
  readonly input: { readonly clientMutationId: string }
  /** When it was first sent, in milliseconds. It may have taken effect since. */
  readonly sentAt?: number
}

const lettersMax = 100
/** The server knows a clientMutationId for a day after the mutation. */
const repeatableMs = 23 * 3_600_000
const temporaryCodes: readonly unknown[] = ['UNAVAILABLE', 'RATE_LIMITED', 'UNAUTHENTICATED']

/** Whether a later flush may succeed: there was no answer, or one of these codes. */
const isTemporary = (error: unknown) => {
  const { cause } = error as { cause?: { code?: string } }
  return error instanceof TypeError || temporaryCodes.includes(cause?.code)
}

/** Mutations of a viewer, in order. Each keeps its clientMutationId, so it takes effect once, whenever it is sent. */
export class Outbox {
  readonly #storage: TextStorage
  readonly #key: string
  /** One flush after the other. */
  #flushed: Promise<unknown> = Promise.resolve()

  constructor(storage: TextStorage, viewer: string) {
    this.#storage = storage
    this.#key = `feedline.outbox.${viewer}`
  }

  async letters(): Promise<Letter[]> {
    return JSON.parse((await this.#storage.getItem(this.#key)) ?? '[]')
  }

  /** Adds a mutation behind the others. Throws if a hundred wait. */
  async add(kind: string, input: object): Promise<void> {
    const letters = await this.letters()
    if (letters.length >= lettersMax) throw new Error('Too much waits to be sent.')
    const letter = { kind, input: { clientMutationId: crypto.randomUUID(), ...input } }
    await this.#storage.setItem(this.#key, JSON.stringify([...letters, letter]))
  }

  /** Sends what waits, until one gets no answer. Call it at the start, and when the app is online again. */
  flush(
    send: (letter: Letter) => Promise<unknown>,
    onRefused: (letter: Letter, reason: unknown) => void,
  ): Promise<void> {
    const flushed = this.#flushed.then(() => this.#flush(send, onRefused))
    this.#flushed = flushed.catch(() => undefined)
    return flushed
  }

  async #flush(...[send, onRefused]: Parameters<Outbox['flush']>): Promise<void> {
    for (;;) {
      const [first] = await this.letters()
      if (!first) return
      const letter = { ...first, sentAt: first.sentAt ?? Date.now() }
      await this.#replaceFirst(letter)
      try {
        if (Date.now() - letter.sentAt > repeatableMs) throw new Error('Sent more than a day ago.')
        await send(letter)
      } catch (error) {
        if (isTemporary(error)) return
        onRefused(letter, error)
      }
      await this.#replaceFirst()
    }
  }

  async #replaceFirst(...letters: Letter[]): Promise<void> {
    const [, ...others] = await this.letters()
    await this.#storage.setItem(this.#key, JSON.stringify([...letters, ...others]))
  }
}
