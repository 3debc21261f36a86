import { badInput } from '../errors.ts'
import { parseTimeId, type TimeId } from '../lib/ids.ts'
import { decodeOpaque, encodeOpaque } from '../lib/opaque.ts'

/** Encodes places in a list as text that is opaque to clients. */
export interface CursorCodec<Place> {
  readonly encode: (place: Place) => string
  /** @returns undefined if `text` is not a cursor of this kind. */
  readonly decode: (text: string) => Place | undefined
  /**
   * @throws {DomainError} BAD_USER_INPUT that names the argument, if `text` is not a cursor of this
   *   kind.
   */
  readonly parse: (argument: string, text: string) => Place
}

/** How the places of one kind of list are written. */
interface CursorForm<Place> {
  /** Names the kind. No other cursor and no global id has it. */
  readonly tag: string
  readonly toParts: (place: Place) => readonly string[]
  /** @returns undefined if the parts are no place. */
  readonly fromParts: (parts: readonly string[]) => Place | undefined
  /** What else a text is not, in errors. Default: a cursor. */
  readonly noun?: string
  /** Longer texts are refused. Default: 512. */
  readonly charactersMax?: number
}

/**
 * The only codec of cursors. A cursor never needs its item, so it stays valid after the item is
 * gone.
 */
export function cursorCodec<Place>({
  tag,
  toParts,
  fromParts,
  noun = 'cursor',
  charactersMax,
}: CursorForm<Place>): CursorCodec<Place> {
  const decode = (text: string) => {
    const decoded = decodeOpaque(text, charactersMax)
    return decoded?.tag === tag ? fromParts(decoded.parts) : undefined
  }
  return {
    encode: (place) => encodeOpaque(tag, ...toParts(place)),
    decode,
    parse(argument, text) {
      const place = decode(text)
      if (place === undefined) throw badInput(argument, `is not a ${noun} of this server`)
      return place
    },
  }
}

/** The cursor of all lists whose places are ids. */
export const timeCursors = cursorCodec<TimeId>({
  tag: 'Cursor',
  toParts: (id) => [id],
  fromParts: ([id = '', ...more]) => (more.length === 0 ? parseTimeId(id) : undefined),
})

/** The cursor of lists of names. */
export const nameCursors = cursorCodec<string>({
  tag: 'Name',
  toParts: (name) => [name],
  fromParts: ([name]) => name,
})
