import { z } from 'zod'
import type { EdgeSource, FollowEventDoc } from '../db/collections.ts'
import { handleRule, parseUserId, type UserId } from '../lib/ids.ts'
import { shortened } from './bad-lines.ts'

/** The columns of the legacy table: `user_id` follows `target_user_id`. */
export const relationColumns = [
  'user_id',
  'target_user_id',
  'twitter_followed_at',
  'facebook_followed_at',
  'medium_followed_at',
  'medium_unfollowed_at',
  'latest_followed_at',
] as const
type Column = (typeof relationColumns)[number]

/** The ways in which the columns of one row disagree. */
export const contradictions = [
  'followed-not-counted',
  'unfollowed-still-counted',
  'never-followed',
  'latest-disagrees',
] as const
export type Contradiction = (typeof contradictions)[number]

/** The sources of a relation. Of two follows at the same time, the one whose source is listed first is earlier. */
export const relationSources = ['TWITTER', 'FACEBOOK', 'MEDIUM'] as const satisfies EdgeSource[]
type RelationSource = (typeof relationSources)[number]

/** The columns of one row. Times are in milliseconds since 1970; 0 is never. */
export interface Relation {
  readonly follower: UserId
  readonly followee: UserId
  readonly followedAt: Readonly<Record<RelationSource, number>>
  readonly unfollowedAt: number
  readonly latestFollowedAt: number
}

/** A follow or an unfollow. An unfollow has the source of the follow that it ends. */
export interface RelationEvent {
  readonly type: FollowEventDoc['type']
  readonly source: RelationSource
  readonly atMs: number
}

/** The history of a row, and how its columns contradict each other. */
export interface ResolvedRelation {
  /** At most three, in the order of time. FOLLOWED and UNFOLLOWED alternate; the last one is the current state. */
  readonly events: readonly RelationEvent[]
  readonly contradiction?: Contradiction | undefined
}

/**
 * Derives the history of a pair from the times of its row. Omits events that change nothing, so a follow has the
 * source of its first event. The latest event is the current state; `latest_followed_at` does not decide it. If a
 * follow and an unfollow have the same time, the unfollow is later, as in Medium's table.
 */
export function resolveRelation(relation: Relation): ResolvedRelation {
  const { followedAt, unfollowedAt } = relation
  const follows = relationSources
    .filter((source) => followedAt[source] > 0)
    .map((source) => ({ source, atMs: followedAt[source] }))
    .sort((one, other) => one.atMs - other.atMs)
  const contradiction = contradictionOf(relation)
  const follow = (one: (typeof follows)[number] | undefined): RelationEvent[] =>
    one ? [{ type: 'FOLLOWED', ...one }] : []
  const [first] = follows
  if (!first || unfollowedAt < first.atMs) return { events: follow(first), contradiction }
  const again = follows.find(({ atMs }) => atMs > unfollowedAt)
  const end = { type: 'UNFOLLOWED', source: first.source, atMs: unfollowedAt } as const
  return { events: [...follow(first), end, ...follow(again)], contradiction }
}

/** The first two checks are Medium's own queries. */
function contradictionOf(relation: Relation): Contradiction | undefined {
  const { followedAt, unfollowedAt, latestFollowedAt: latest } = relation
  const greatest = Math.max(...Object.values(followedAt))
  const follows = greatest > unfollowedAt
  if (latest === 0 && follows) return 'followed-not-counted'
  if (latest > 0 && unfollowedAt > latest) return 'unfollowed-still-counted'
  if (unfollowedAt > 0 && greatest === 0) return 'never-followed'
  return latest === (follows ? greatest : 0) ? undefined : 'latest-disagrees'
}

/**
 * Parses the columns of a row. A missing column is empty. Handles become lower case.
 * @param nowMs milliseconds since 1970. A later time is a problem: writes after the import must be later than its rows.
 * @returns the relation, or the problem with the row.
 */
export function parseRelation(
  fields: Readonly<Record<string, unknown>>,
  nowMs: number,
): Relation | string {
  const unknown = Object.keys(fields).find((name) => !isColumn(name))
  if (unknown !== undefined) return unknownColumn(unknown)
  const names = (['user_id', 'target_user_id'] as const).map((column) => handleIn(fields, column))
  const times = timeColumns.map((column) => timeIn(fields, column, nowMs))
  const problem = [...names, ...times].find((one) => typeof one === 'object')
  if (problem) return problem.problem
  const [follower, followee] = names as [UserId, UserId]
  if (follower === followee) return `"${follower}" would follow itself`
  const [TWITTER, FACEBOOK, MEDIUM, unfollowedAt, latestFollowedAt] = times as Times
  const followedAt = { TWITTER, FACEBOOK, MEDIUM }
  return { follower, followee, followedAt, unfollowedAt, latestFollowedAt }
}

/** Returns the problem with the column names of a header, or undefined. */
export function headerProblem(names: readonly string[]): string | undefined {
  const absent = relationColumns.slice(0, 2).find((column) => !names.includes(column))
  if (absent) return `is not a header: the column ${absent} is missing`
  const unknown = names.find((name) => !isColumn(name))
  if (unknown !== undefined) return unknownColumn(unknown)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  return twice === undefined ? undefined : `names the column ${twice} twice`
}

type Times = [number, number, number, number, number]
interface Problem {
  readonly problem: string
}

const [, , ...timeColumns] = relationColumns
const isColumn = (name: string) => (relationColumns as readonly string[]).includes(name)
const unknownColumn = (name: string) =>
  `"${shortened(name)}" is not a known column. Known columns: ${relationColumns.join(', ')}`

function handleIn(fields: Readonly<Record<string, unknown>>, column: Column): UserId | Problem {
  const value = textOf(fields[column])
  const handle = value === undefined ? undefined : parseUserId(value.toLowerCase())
  if (handle) return handle
  return { problem: `${column}: ${quoted(fields[column])} is not a handle: ${handleRule}` }
}

/** None of the three sources existed before. An earlier time is in seconds, not in milliseconds. */
const earliestMs = Date.UTC(2000)
const isoTime = z.union([z.iso.datetime({ offset: true }), z.iso.date()])

function timeIn(
  fields: Readonly<Record<string, unknown>>,
  column: Column,
  nowMs: number,
): number | Problem {
  const text = textOf(fields[column] ?? '')
  if (text === '' || text?.toLowerCase() === 'null') return 0
  const wrong = (what: string): Problem => ({
    problem: `${column}: ${quoted(fields[column])} ${what}`,
  })
  const atMs = text === undefined ? Number.NaN : millisecondsOf(text)
  if (Number.isNaN(atMs)) return wrong('is neither epoch milliseconds nor ISO 8601 with a zone')
  if (atMs === 0) return 0
  if (atMs < earliestMs) return wrong('is before 2000: epoch times are in milliseconds')
  return atMs > nowMs ? wrong('is in the future') : atMs
}

function millisecondsOf(text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  return isoTime.safeParse(text).success ? Date.parse(text) : Number.NaN
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value).trim() : undefined

const quoted = (value: unknown) =>
  value === undefined ? 'nothing' : shortened(JSON.stringify(value) ?? String(value))
