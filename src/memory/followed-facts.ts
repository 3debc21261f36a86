import { accountFields, type CollectionName } from '../db/collections.ts'
import { namesOf } from '../entities/leaves.ts'
import { postLeaves, postParts } from '../entities/post.ts'
import type { Followed } from './followed.ts'

/**
 * Every fact that processes keep in memory, by its collection: the log's stream has its changes,
 * and nothing else. Whatever writes such a fact must change the named document in the same
 * transaction.
 * - `posts`: that a post exists, what else rules know of it, and its content. Its counts are read
 *   for each answer.
 * - `users`: profiles and handles.
 * - `user_stats`: that an account is live, and what else rules know of it; and the relations of its
 *   user. Follows change `following`, mutes and blocks `guard`, and repairs `repairs`.
 * - `strategies`: the registrations.
 */
export const followedFacts = [
  {
    collection: 'posts',
    inserts: true,
    updates: ['author', ...namesOf(postLeaves), ...namesOf(postParts)],
    carries: ['author'],
  },
  { collection: 'users', inserts: false, updates: 'all', carries: [] },
  {
    collection: 'user_stats',
    inserts: false,
    updates: ['following', 'guard', 'repairs', ...accountFields.filter((name) => name !== '_id')],
    carries: [],
  },
  { collection: 'strategies', inserts: true, updates: 'all', carries: [] },
] as const satisfies readonly (Followed & { readonly collection: CollectionName })[]

/** A collection that the log follows. */
export type FollowedCollection = (typeof followedFacts)[number]['collection']
