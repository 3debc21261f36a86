/** Why there is no embedded mongod: `message` is one sentence for the operator. */
export class MongodError extends Error {
  override readonly name = 'MongodError'
}
