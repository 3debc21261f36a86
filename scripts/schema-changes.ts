import { execFileSync } from 'node:child_process'
import { type Change, ChangeType, CriticalityLevel, diff } from '@graphql-inspector/core'
import { buildSchema, type GraphQLSchema } from 'graphql'

const schemaFile = 'schema/schema.graphql'
const changelogFile = 'CHANGELOG.md'

/** The schema of an earlier state of the repository. */
export interface EarlierSchema {
  /** The state in words. */
  readonly state: string
  readonly text: string
}

/**
 * Reads the schema that the current one is compared with: of the last release, before the newest
 * section of the changelog, or of the merge base with the main branch. Needs no network.
 * @param folder a working tree.
 * @returns undefined if the clone has no earlier schema, for example because it is shallow.
 */
export function readEarlierSchema(folder: string): EarlierSchema | undefined {
  const git = (...args: readonly string[]): string | undefined => {
    try {
      const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore']
      return execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8', stdio }).trim()
    } catch {
      return undefined
    }
  }
  const at = (state: string, commit: string | undefined): EarlierSchema | undefined => {
    const text = commit ? git('show', `${commit}:./${schemaFile}`) : undefined
    return commit && text ? { state: `${state} (${commit.slice(0, 7)})`, text } : undefined
  }
  const tag = git('describe', '--tags', '--match', 'v*', '--abbrev=0')
  const mergeBase = git('merge-base', 'HEAD', 'origin/HEAD')
  const heading = /^## .*$/m.exec(git('show', `HEAD:./${changelogFile}`) ?? '')?.[0]
  const begun = heading && git('log', '-1', '--format=%H', `-S${heading}`, '--', changelogFile)
  return (
    at(`the release ${tag}`, tag && git('rev-parse', `${tag}^{commit}`)) ??
    at(`the state before "${heading}"`, begun && git('rev-parse', `${begun}^`)) ??
    at(
      'the merge base with the main branch',
      mergeBase === git('rev-parse', 'HEAD') ? undefined : mergeBase,
    )
  )
}

/**
 * Finds breaking changes that the changelog does not name.
 * @param changelog its first section with entries counts, since a release empties the first one.
 * @returns a sentence about each such change.
 */
export async function unnamedBreakingChanges(
  earlier: string,
  current: string,
  changelog: string,
): Promise<string[]> {
  const [before, after] = [buildSchema(earlier), buildSchema(current)]
  const changes = await diff(before, after)
  const entries = newestEntries(changelog)
  return changes
    .filter(({ criticality }) => criticality.level === CriticalityLevel.Breaking)
    .filter((change) => !namesOf(change, before, after).some((name) => names(entries, name)))
    .map(({ message }) => message.replaceAll("'", '`'))
}

/** The first section of a changelog with entries. */
const newestEntries = (changelog: string): string =>
  changelog.split(/^## /m).find((section) => /^- /m.test(section)) ?? ''

/** Whether a text contains a name as a whole. */
const names = (text: string, name: string): boolean =>
  new RegExp(`(?<![\\w.])${name.replaceAll('.', '\\.')}(?!\\w)`).test(text)

/** The names by which a changelog may name a change. */
function namesOf(
  { path = '', message, type: kind }: Change,
  before: GraphQLSchema,
  after: GraphQLSchema,
): readonly string[] {
  const [type = '', field, argument] = path.split('.')
  const isRoot = type === 'Query' || type === 'Mutation'
  const own = [
    path,
    ...(argument === undefined ? [] : [`${type}.${field}`]),
    ...((isRoot || kind === ChangeType.EnumValueRemoved) && field !== undefined ? [field] : []),
  ]
  // A field whose type has another name now, such as all fields with a renamed scalar.
  const removed = Object.keys(before.getTypeMap()).filter((name) => !after.getType(name))
  return [...own, ...removed.filter((name) => names(message, name))].filter((name) => name !== '')
}
