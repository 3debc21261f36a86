import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/** From left to right: each part of src may import those before it, never those after it. */
const order = [
  'lib',
  ['errors.ts', 'config.ts', 'log.ts'],
  'db',
  'jobs',
  'users',
  'follows',
  'posts',
  'engagement',
  'imports',
  'feed',
  'integrity',
  'services.ts',
  'graphql',
  'app.ts',
  'cli',
  'main.ts',
].map((rank) => [rank].flat())
const parts = order.flat()
const rankOf = (part: string) => order.findIndex((rank) => rank.includes(part))

/** Who may import a package; any other part of src may not. */
const packageOwners: Record<string, (file: string) => boolean> = {
  mongodb: (file) => file.startsWith('src/db/'),
  'mongodb/lib/bson.js': (file) => file.startsWith('src/db/'),
  'mongodb-memory-server-core': (file) => file.startsWith('src/db/'),
  bson: (file) => file.startsWith('src/db/'),
  graphql: (file) => file.startsWith('src/graphql/'),
  'graphql/error/index.js': (file) => file.startsWith('src/graphql/'),
  'graphql-scalars': (file) => file.startsWith('src/graphql/'),
  'type-graphql': (file) => file.startsWith('src/graphql/'),
  '@apollo/server': (file) => file.startsWith('src/graphql/'),
  '@apollo/server/plugin/disabled': (file) => file.startsWith('src/graphql/'),
  '@as-integrations/fastify': (file) => file.startsWith('src/graphql/'),
  '@escape.tech/graphql-armor-max-depth': (file) => file.startsWith('src/graphql/'),
  '@graphql-yoga/render-graphiql': (file) => file.startsWith('src/graphql/'),
  dataloader: (file) => file === 'src/graphql/loaders.ts',
}

/** Every other habit that the linter holds, each with a snippet that breaks it. */
const habits: Record<string, { readonly file: string; readonly code: string }> = {
  noDefaultExport: { file: 'src/lib/a.ts', code: 'export default 1\n' },
  noEnum: { file: 'src/lib/b.ts', code: 'export enum Kind { One }\n' },
  noNonNullAssertion: {
    file: 'src/lib/c.ts',
    code: 'export const one = (a?: string) => a!.length\n',
  },
  noExplicitAny: { file: 'src/lib/d.ts', code: 'export const one = (a: any) => a\n' },
  noUnusedVariables: { file: 'src/lib/e.ts', code: 'const one = 1\n' },
  noUnusedImports: { file: 'src/lib/f.ts', code: "import { join } from 'node:path'\n" },
  useImportType: {
    file: 'src/lib/g.ts',
    code: "import { Stats } from 'node:fs'\nexport const one = (s: Stats) => s\n",
  },
  noImportCycles: {
    file: 'src/lib/h.ts',
    code: "import { j } from './j.ts'\nexport const h = () => j\n",
  },
  noFloatingPromises: {
    file: 'src/lib/k.ts',
    code: 'const one = async () => 1\nexport const two = () => {\n  one()\n}\n',
  },
  noMisusedPromises: {
    file: 'src/lib/l.ts',
    code: 'const one = async () => true\nexport const two = () => {\n  if (one()) return 1\n}\n',
  },
  noParameterAssign: {
    file: 'src/lib/m.ts',
    code: 'export const one = (a: number) => {\n  a = 2\n  return a\n}\n',
  },
  useThrowOnlyError: {
    file: 'src/lib/n.ts',
    code: "export const one = () => {\n  throw 'no'\n}\n",
  },
}
const otherFiles = {
  'src/lib/j.ts': "import { h } from './h.ts'\nexport const j = () => h\n",
  'probe.config.ts': 'export default 1\n',
  'src/graphql/decorated.ts':
    "import { Arg } from 'type-graphql'\nexport class A {\n  of(@Arg('a') a: string) {\n    return a\n  }\n}\n",
}

const readsEnvironment = 'export const port = process.env.PORT\n'
const environmentReaders: Record<string, boolean> = {
  'src/config.ts': true,
  // Both hand the environment on to a child process.
  'src/db/embedded/process.ts': true,
  'src/db/embedded/download.ts': true,
  'src/db/probe-environment.ts': false,
  'src/main.ts': false,
  ...Object.fromEntries(
    parts
      .filter((part) => !part.endsWith('.ts'))
      .map((part) => [`src/${part}/probe-environment.ts`, false]),
  ),
}

interface Import {
  readonly file: string
  readonly target: string
  readonly allowed: boolean
}

/** A file of each part, one folder deep and two: the latter's imports begin with `../../`. */
const filesOf = (part: string) =>
  part.endsWith('.ts') ? [`src/${part}`] : [`src/${part}/probe.ts`, `src/${part}/inner/probe.ts`]
const probes = [...parts.flatMap(filesOf), 'src/graphql/loaders.ts']

const partOf = (file: string) => file.split('/')[1] ?? ''

function importsOf(file: string): Import[] {
  const up = '../'.repeat(file.split('/').length - 2) || './'
  const from = partOf(file)
  const edges = parts
    .filter((to) => to !== from)
    .map((to) => ({
      file,
      target: `${up}${to}${to.endsWith('.ts') ? '' : '/thing.ts'}`,
      // lib is pure, the other parts of a rank are each other's equals.
      allowed: from === 'lib' ? false : rankOf(to) <= rankOf(from),
    }))
  const packages = Object.entries(packageOwners).map(([target, owns]) => ({
    file,
    target,
    allowed: owns(file),
  }))
  return [...edges, ...packages]
}
const imports = probes.flatMap(importsOf)

interface Diagnostic {
  readonly category: string
  readonly location: { readonly path: string; readonly start?: { readonly line: number } }
}

const root = join(import.meta.dirname, '../..')
let folder: string
let found: ReadonlySet<string>

/** Lints a copy of the configuration's world, in which every rule is broken. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'feedline-architecture-'))
  const write = async (file: string, text: string) => {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), text)
  }
  for (const name of ['biome.json', '.gitignore', 'tsconfig.json']) {
    await cp(join(root, name), join(folder, name))
  }
  for (const { file, code } of Object.values(habits)) await write(file, code)
  for (const [file, code] of Object.entries(otherFiles)) await write(file, code)
  for (const file of Object.keys(environmentReaders)) await write(file, readsEnvironment)
  for (const file of probes) {
    const lines = importsOf(file).map(
      ({ target }, at) => `export { a as a${at} } from '${target}'\n`,
    )
    const tail = file in environmentReaders ? readsEnvironment : ''
    await write(file, lines.join('') + tail)
  }
  found = new Set((await lint(folder)).map(keyOf))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

async function lint(cwd: string): Promise<readonly Diagnostic[]> {
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome')
  const args = [biome, 'lint', '--reporter=json', '--max-diagnostics=none', '.']
  const output = await new Promise<string>((resolve) =>
    execFile(process.execPath, args, { cwd, maxBuffer: 1 << 26 }, (_, text) => resolve(text)),
  )
  return (JSON.parse(output) as { readonly diagnostics: readonly Diagnostic[] }).diagnostics
}

const keyOf = ({ category, location }: Diagnostic) => {
  const rule = category.split('/').at(-1) ?? ''
  const line = rule === 'noRestrictedImports' ? `:${location.start?.line}` : ''
  return `${rule} ${location.path}${line}`
}

const refused = ({ file, target }: Import) => {
  const line = importsOf(file).findIndex((one) => one.target === target) + 1
  return found.has(`noRestrictedImports ${file}:${line}`)
}

describe('dependencies point one way', () => {
  it('knows every file and folder of src', async () => {
    const present = await readdir(join(root, 'src'))
    expect(present.filter((name) => !parts.includes(name))).toEqual([])
  })

  for (const file of probes) {
    it(`${file} imports only what comes before it, and no package of another folder`, () => {
      const wrong = importsOf(file).filter((one) => refused(one) === one.allowed)
      expect(wrong).toEqual([])
    })
  }

  it('sees an import of a type, a dynamic one, and one for its effect', async () => {
    await writeFile(
      join(folder, 'src/db/probe.ts'),
      [
        "import type { A } from '../feed/a.ts'",
        "import '../graphql/b.ts'",
        "import * as c from '../app.ts'",
        "export const d = (a: A) => [a, c, import('../users/d.ts')]",
      ].join('\n'),
    )
    const lines = (await lint(folder)).map(keyOf)
    expect(lines).toEqual(
      expect.arrayContaining(
        [1, 2, 3, 4].map((line) => `noRestrictedImports src/db/probe.ts:${line}`),
      ),
    )
  })

  it('tries enough of them', () => {
    expect(imports.filter(({ allowed }) => !allowed).length).toBeGreaterThan(400)
    expect(imports.filter(({ allowed }) => allowed).length).toBeGreaterThan(150)
  })
})

describe('the environment is read in one place', () => {
  for (const [file, allowed] of Object.entries(environmentReaders)) {
    it(`${file} ${allowed ? 'may' : 'may not'} read process.env`, () => {
      expect(found.has(`noProcessEnv ${file}`)).toBe(!allowed)
    })
  }
})

describe('the linter holds the habits', () => {
  for (const [rule, { file }] of Object.entries(habits)) {
    it(`${rule} bites`, () => {
      expect([...found]).toContain(`${rule} ${file}`)
    })
  }

  it('lets a configuration file export by default', () => {
    expect([...found].filter((key) => key.includes('probe.config.ts'))).toEqual([])
  })

  it('parses decorated parameters', () => {
    expect([...found].filter((key) => key.includes('decorated.ts'))).toEqual([])
  })
})
