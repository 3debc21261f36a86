import { hash } from 'node:crypto'

/**
 * The entity tag of an answer. Equal answers of all processes have the same one. It is weak,
 * because a compressed answer has the same one.
 */
export const etagOf = (body: string): string =>
  `W/"${hash('sha256', body, 'base64url').slice(0, 27)}"`

/** Whether an If-None-Match header names an entity tag, also as a strong one. */
export const namesEtag = (header = '', etag: string): boolean =>
  header.split(',').some((one) => ['*', etag, etag.replace('W/', '')].includes(one.trim()))
