/** A number below `count` that depends on the text alone. Documents that all requests read are split by it. */
export function stripeOf(text: string, count: number): number {
  let hash = 0
  for (let at = 0; at < text.length; at++) hash = (hash * 31 + text.charCodeAt(at)) >>> 0
  return hash % count
}
