/** Whom a verified token names. */
export interface Subject {
  /** The `iss` of the token. Empty for a token without one, and for `Dev`. */
  readonly issuer: string
  /** Any text of 1 to 255 bytes. */
  readonly sub: string
  /**
   * Whether the main keys (AUTH_JWT_SECRET or AUTH_JWKS_URL) or `Dev` verified it: accounts that were stored without an
   * issuer belong to its subjects.
   */
  readonly isMain: boolean
}
