import { engagement } from './engagement/feature.ts'
import type { Reactions } from './events.ts'
import type { Core, Feature, ListTable } from './feature.ts'
import { follows } from './follows/feature.ts'
import { type Check, checkPhases } from './integrity/invariant.ts'
import { checkShapes } from './integrity/invariants/document-shapes.ts'
import { checkParkedJobs } from './integrity/invariants/parked-jobs.ts'
import { PeriodicJobs } from './jobs/periodic.ts'
import type { Tasks } from './jobs/runner.ts'
import { posts } from './posts/feature.ts'
import { timelines } from './timeline/feature.ts'
import { deletionKind, deletionTasks, removalPhases } from './users/deletion.ts'
import { accounts } from './users/feature.ts'

/** Every feature. Each may use the services of those before it. */
export const features = [accounts, follows, posts, engagement, timelines] as const

export type FeatureName = (typeof features)[number]['name']

/**
 * The core with the services of features, in their order. A feature that needs what none before it
 * creates is named.
 */
type Wired<Features, Parts> = Features extends readonly [infer First, ...infer Others]
  ? First extends Feature<infer Needs, infer Created, infer _Kind, infer _Lists>
    ? Parts extends Needs
      ? Wired<Others, Parts & Created>
      : { readonly lacksServices: First }
    : never
  : Parts

/** The core, and the services of all features. */
export type Parts = Wired<typeof features, Core>

/** The lists of features. */
type ListsOf<Features> = Features extends readonly [infer First, ...infer Others]
  ? First extends Feature<infer _Needs, infer _Created, infer _Kind, infer Own>
    ? Own & ListsOf<Others>
    : never
  : unknown

/** The lists of all features. */
export type Lists = ListsOf<typeof features>

type AnyFeature = Feature<Parts, object, string, ListTable>
const all = features as readonly unknown[] as readonly AnyFeature[]

/** How all features react to events. An account ends by one job, in which all of them take part. */
export const reactions: readonly Reactions[] = [
  { 'user.deleted': deletionKind },
  ...all.map((feature) => feature.reactions),
]

/** Builds the services of all features. */
export function createParts(core: Core): Parts {
  const parts: Core = { ...core }
  for (const { create } of all) Object.assign(parts, create(parts as Parts))
  return parts as Parts
}

/** The task of every kind of job. */
export function createTasks(parts: Parts): Tasks {
  const { users, graph, ranges, walks, delivery, idempotency } = parts
  const removals = all.map(({ removal }) => removal(parts))
  const steps = removalPhases.flatMap((phase) => removals.flatMap((steps) => steps[phase] ?? []))
  const deletion = deletionTasks({
    users,
    ranges,
    cutFollowers: (user) => walks.cutAll(user),
    steps: [
      ...steps,
      // Until the last writes are settled, a repeat of a mutation returns its first result.
      async (user, removal) => {
        if (removal.isSettled) await idempotency.removeResults(user, removal)
        return undefined
      },
    ],
    ofFollowers: {
      retract: (user, ids, run, range) => delivery.retractAll(user, ids, run, range),
      removeEdges: (user, run, range) => graph.removeFollowers(user, run, range),
    },
  })
  return Object.assign({}, deletion, ...all.map(({ tasks }) => tasks(parts)))
}

/** Lists by the names of their loaders. */
export const createLists = (parts: Parts): Lists =>
  Object.assign({}, ...all.map(({ lists }) => lists(parts)))

/** The periodic jobs of all features. */
export const createPeriodicJobs = (parts: Parts): PeriodicJobs =>
  new PeriodicJobs(
    parts,
    all.flatMap(({ periodic }) => periodic(parts)),
  )

/**
 * All invariants of the stored data, in the order in which a run checks them: those of the core
 * first.
 */
export const invariants: readonly Check[] = [
  ...[checkShapes, checkParkedJobs],
  ...checkPhases.flatMap((phase) => all.flatMap(({ invariants }) => invariants[phase] ?? [])),
]
