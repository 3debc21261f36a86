import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { expect, test } from 'vitest'
import { circlesOf, importsOf, readStructure } from '../../scripts/structure.ts'
import { features } from '../../src/features.ts'

const src = join(import.meta.dirname, '../../src')

/** The folder of each feature, in the order in which `src/features.ts` lists the features. */
function featureFolders(): string[] {
  const text = readFileSync(join(src, 'features.ts'), 'utf8')
  const imports = text.matchAll(/import \{ (\w+) \} from '\.\/(\w+)\/feature\.ts'/g)
  const folders = new Map(Array.from(imports, ([, name, folder]) => [name, folder]))
  const [, names = ''] = /^export const features = \[([^\]]*)\]/m.exec(text) ?? []
  return names.split(',').flatMap((name) => folders.get(name.trim()) ?? [])
}

/**
 * Each part of src may import the parts before it, and those of its own line. A file may come
 * before its folder: what a folder stores comes before all folders. What it declares as a feature
 * comes after them, and then its API. The folders of features have the order of `src/features.ts`.
 */
const order = [
  ['lib'],
  [
    'errors.ts',
    'sign-in.ts',
    'variables.ts',
    'config.ts',
    'log.ts',
    'request-scope.ts',
    'engagement/kinds.ts',
  ],
  ['metrics', 'tracing'],
  ['db/collection-spec.ts', 'db/mongo.ts', 'db/shape.ts'],
  ['entities'],
  ['collections.ts'],
  ['db'],
  ['memory'],
  ['events.ts'],
  ['jobs'],
  ['visibility'],
  ['pages'],
  ...featureFolders().map((folder) => [folder]),
  ['integrity'],
  ['http'],
  ['feature.ts'],
  [
    'environment.ts',
    'features.ts',
    'services.ts',
    'extensions.ts',
    'open-database.ts',
    'open-process.ts',
    'observe.ts',
  ],
  ['graphql', 'api', 'api.ts'],
  ['app.ts'],
  ['cli'],
]

/** The only places in src that may import the packages. */
const packageOwners: readonly (readonly [packages: RegExp, owners: RegExp])[] = [
  [/^(mongodb|bson)(\/|$)/, /^db\//],
  [
    /^(graphql|type-graphql|@apollo|@as-integrations|@escape\.tech|@graphql-)/,
    /^(graphql\/|\w+\/api(\/|\.ts$))/,
  ],
  [/^dataloader$/, /^graphql\/loaders\.ts$/],
  [/^prom-client$/, /^metrics\//],
  [/^@opentelemetry\//, /^tracing\//],
]

/** What a folder of src owns, and a package of this repository needs beside that folder. */
const packageGrants: Readonly<Record<string, readonly string[]>> = { documents: ['graphql'] }

const packages = join(import.meta.dirname, '../../packages')
const rankOf = (path: string) => {
  const place = path.replace(
    /^(?!db\/|graphql\/)[^/]+\/(?=((collections|feature|api)\.ts$|api\/))/,
    '',
  )
  return order.findIndex(
    (parts) => parts.includes(place) || parts.includes(place.split('/')[0] as string),
  )
}

/** @returns why `file` may not import `target`; both paths are relative to src. */
function violation(file: string, target: string): string | undefined {
  if (target.startsWith('.')) {
    const path = posix.join(posix.dirname(file), target)
    return rankOf(path) <= rankOf(file) && rankOf(path) >= 0
      ? undefined
      : `src/${file} imports ${path}, which comes later`
  }
  const owners = packageOwners.find(([packages]) => packages.test(target))?.[1]
  return owners && !owners.test(file) ? `src/${file} imports ${target}` : undefined
}

/**
 * @returns why a file of `packages/NAME` may not import `target`. It may import its own folder and
 *   src, what it is granted, and no other package.
 */
function packageViolation(name: string, file: string, target: string): string | undefined {
  const path = posix.join(name, posix.dirname(file), target)
  const isAllowed = target.startsWith('.')
    ? path.startsWith(`${name}/`) || path.startsWith('../src/')
    : !packageOwners.some(([owned]) => owned.test(target)) || packageGrants[name]?.includes(target)
  return isAllowed ? undefined : `packages/${name}/${file} imports ${target}`
}

const sourcesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))

const files = sourcesOf(src)

test('the folder of each feature has a place in the import order', () => {
  expect(featureFolders()).toHaveLength(features.length)
})

test('every file and folder of src has a place in the import order', () => {
  expect(files.filter((file) => rankOf(file) < 0)).toEqual([])
})

test('each part of src imports only parts before it, and packages only in their owning folders', () => {
  const violations = files.flatMap((file) =>
    importsOf(readFileSync(join(src, file), 'utf8')).flatMap((to) => violation(file, to) ?? []),
  )
  expect(violations).toEqual([])
})

test('no files of src import each other in a circle, not even for types', () => {
  expect(circlesOf(readStructure(src))).toEqual([])
})

test('the circle check finds a circle of three files, and no other', () => {
  const file = (path: string, ...imports: string[]) => ({ path, lines: 1, imports })
  const files = [file('a', 'b', 'd'), file('b', 'c'), file('c', 'a'), file('d'), file('e', 'a')]
  expect(circlesOf(files)).toEqual([['a', 'b', 'c']])
})

test('each package imports only itself and src, and what a folder of src owns only by a grant', () => {
  const names = readdirSync(packages, { withFileTypes: true }).filter((each) => each.isDirectory())
  const violations = names.flatMap(({ name }) =>
    sourcesOf(join(packages, name)).flatMap((file) =>
      importsOf(readFileSync(join(packages, name, file), 'utf8')).flatMap(
        (to) => packageViolation(name, file, to) ?? [],
      ),
    ),
  )
  expect(names.length).toBeGreaterThan(5)
  expect(violations).toEqual([])
})

test('the import check finds type imports, side-effect imports and dynamic imports', () => {
  const text =
    "import type { A } from './a.ts'\nimport './b.ts'\nconst c = import('./c.ts')\nexport * from './d.ts'"
  expect(importsOf(text)).toEqual(['./a.ts', './b.ts', './c.ts', './d.ts'])
})

test.each([
  ['db/a.ts', '../timeline/b.ts'],
  ['lib/a.ts', '../errors.ts'],
  ['users/deep/a.ts', '../../follows/b.ts'],
  ['posts/a.ts', 'mongodb'],
  ['users/api/a.ts', 'dataloader'],
  ['users/a.ts', './api.ts'],
  ['timeline/a.ts', '@apollo/server/errors'],
  ['timeline/a.ts', '../../tests/support/b.ts'],
  ['open-database.ts', '../packages/mongod/open.ts'],
  ['engagement/kinds.ts', './reader.ts'],
  ['posts/posts.ts', './feature.ts'],
  ['posts/feature.ts', '../services.ts'],
])('an import of %s from %s violates the import order', (file, target) => {
  expect(violation(file, target)).toBeDefined()
})

test.each(['../mongod/open.ts', '../../tests/support/b.ts', '../index.ts', 'mongodb', 'graphql'])(
  'an import of %s violates the bounds of a package',
  (target) => {
    expect(packageViolation('drive', 'a.ts', target)).toBeDefined()
  },
)
