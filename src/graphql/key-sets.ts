import type { Log } from '../log.ts'
import type { AuthConfig, TokenSource } from '../sign-in.ts'
import { KeySet } from './key-set.ts'

/** The published keys of all sources that have a URL. */
export class KeySets {
  private readonly sets: ReadonlyMap<TokenSource, KeySet>

  constructor({ main, issuers, keysMsMax }: AuthConfig, log?: Log) {
    const sources = [...(main ? [main] : []), ...issuers]
    this.sets = new Map(
      sources.flatMap((source) => {
        if (source.jwksUrl === undefined) return []
        const name = source === main ? 'AUTH_JWKS_URL' : (source.issuer ?? '')
        const origin = { name, url: source.jwksUrl, ageMsMax: keysMsMax }
        return [[source, new KeySet(origin, log)] as const]
      }),
    )
  }

  /** The keys of a source. Undefined for a secret. */
  of(source: TokenSource): KeySet | undefined {
    return this.sets.get(source)
  }

  /** Begins to fetch the keys of all sources. Waits for none. */
  start(): void {
    for (const set of this.sets.values()) set.start()
  }

  stop(): void {
    for (const set of this.sets.values()) set.stop()
  }
}
