/**
 * The names of a mutation's own types, such as `LikePostInput` and `LikePostPayload` for
 * `likePost`.
 */
export function typeNamesOf(mutation: string) {
  const name = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}`
  return { input: `${name}Input`, payload: `${name}Payload` }
}
