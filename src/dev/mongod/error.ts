/** Why there is no embedded mongod: `message` is one sentence for whoever starts the server. */
export class EmbeddedError extends Error {
  override readonly name = 'EmbeddedError'
}
