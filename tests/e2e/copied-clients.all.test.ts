import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { useApp } from '../support/app.ts'
import { root } from '../support/process.ts'

// Projects as docs/how-to/clients.md and the page of a client describe them: the files that they
// name are copied into an empty folder, the packages that they name are installed, and the project
// is built.

const app = useApp()
const documentOf = (name: string) => readFile(join(root, 'docs/how-to', `${name}.md`), 'utf8')
const clients = await documentOf('clients')

/** The parts of a page that clients share. */
const [, copiedFolder = ''] =
  /\[(examples\/\w+)\]\([^)]*\): copy the folder into your `src`/.exec(clients) ?? []
const [, config = ''] = /```\w*\n(import type \{ CodegenConfig \}[\s\S]*?)```/.exec(clients) ?? []
/** The packages that a page installs. */
const packagesOf = (page: string) =>
  Array.from(page.matchAll(/^npm install (?:--save-dev )?(.*)$/gm), ([, names = '']) => names)
    .flatMap((names) => names.split(' '))
    .filter((name) => name !== 'PATH/schema/client')

/** Where an installed package is, whichever workspace has it. */
function packageFolder(name: string): string {
  const workspaces = [
    '.',
    ...['apollo', 'urql', 'relay', 'node', 'ui'].map((at) => `examples/${at}`),
  ]
  const folders = workspaces.map((at) => join(root, at, 'node_modules', name))
  const folder = folders.find((each) => existsSync(each))
  if (!folder) throw new Error(`${name} is not installed`)
  return folder
}

const projects: string[] = []
afterAll(() => Promise.all(projects.map((folder) => rm(folder, { recursive: true }))))

/** Makes a project outside the repository, with these packages and no others. */
async function createProject(packages: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'feedline-copied-'))
  projects.push(folder)
  for (const name of packages) {
    const link = join(folder, 'node_modules', name)
    await mkdir(dirname(link), { recursive: true })
    await symlink(packageFolder(name), link)
  }
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  expect(copiedFolder).not.toBe('')
  await cp(join(root, copiedFolder), join(folder, 'src', basename(copiedFolder)), {
    recursive: true,
    filter: isSource,
  })
  return folder
}

const isSource = (path: string) => !path.includes('node_modules')

/** Copies files of an example, and imports what they share from where the document says. */
async function copyExample(from: string, folder: string, names?: readonly string[]): Promise<void> {
  for (const name of names ?? (await readdir(join(root, from)))) {
    if (name === '__generated__') continue
    const text = await readFile(join(root, from, name), 'utf8')
    const copied = text
      .replace(/'@feedline\/example-ui(\/?.*)'/g, "'./ui$1'")
      .replace(/'@feedline\/client(\/schema)?'/g, "'./gql/graphql'")
      .replace("'../../schema/schema.graphql'", "'./schema.graphql'")
    await writeFile(join(folder, name), copied)
  }
}

/** Runs a program of a package of the project. @returns its exit code and output. */
async function run(folder: string, program: string, ...args: string[]) {
  const [name = '', bin = ''] = program.split(':')
  const { bin: bins } = JSON.parse(
    await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8'),
  )
  const file = join(folder, 'node_modules', name, typeof bins === 'string' ? bins : bins[bin])
  return promisify(execFile)(process.execPath, [file, ...args], { cwd: folder }).then(
    () => ({ code: 0, out: '' }),
    ({ code, stdout, stderr }) => ({ code, out: `${stdout}${stderr}` }),
  )
}
const succeeded = { code: 0, out: '' }

/** Types the documents of `schema/operations`, as the document says. */
async function generateTypes(folder: string): Promise<void> {
  const operations = join(root, 'schema/operations')
  await cp(operations, join(folder, 'src'), { recursive: true })
  await writeFile(join(folder, 'codegen.ts'), config.replace('http://localhost:4000', app.url))
  expect(await run(folder, '@graphql-codegen/cli:graphql-codegen')).toEqual(succeeded)
}

/** Compiles the project under what `create-vite` and `create-next-app` write. */
async function compile(folder: string, ...kinds: readonly ('vite' | 'next')[]): Promise<void> {
  for (const kind of kinds) {
    const text = await readFile(join(root, `examples/tsconfig.${kind}.json`), 'utf8')
    const { compilerOptions } = JSON.parse(text.replace(/^\/\/.*$/gm, ''))
    const written = {
      compilerOptions: { ...compilerOptions, types: ['vite/client'] },
      include: ['src'],
    }
    await writeFile(join(folder, `tsconfig.${kind}.json`), JSON.stringify(written))
    expect(await run(folder, 'typescript:tsc', '--project', `tsconfig.${kind}.json`)).toEqual(
      succeeded,
    )
  }
}

/** Builds the project with Vite, from the page of its example. */
async function build(folder: string, example: string): Promise<void> {
  await copyExample(example, folder, ['index.html', 'vite.config.ts'])
  expect((await run(folder, 'vite:vite', 'build')).out).toBe('')
  expect(await readdir(join(folder, 'dist'))).toContain('index.html')
}

test('the page of all clients says which folder is copied', () => {
  expect(copiedFolder).toBe('examples/ui')
  expect(config).toContain("'http://localhost:4000/graphql'")
})

test.each(['apollo', 'urql'])(
  'a project with what the documents copy and install for %s is typed, compiled and built',
  async (client) => {
    const page = await documentOf(`client-${client}`)
    const folder = await createProject([...packagesOf(clients), ...packagesOf(page)])
    await copyExample(`examples/${client}/src`, join(folder, 'src'))
    await copyExample('schema', folder, ['schema.graphql'])
    await generateTypes(folder)
    await compile(folder, 'vite', 'next')
    await build(folder, `examples/${client}`)
  },
)

test('a project with what the documents copy and install for Relay is generated, compiled and built', async () => {
  const page = await documentOf('client-relay')
  const folder = await createProject([...packagesOf(clients), ...packagesOf(page)])
  const [, relayConfig = ''] = /```json\n([\s\S]*?)```/.exec(page) ?? []
  await writeFile(join(folder, 'relay.config.json'), relayConfig)
  await copyExample('schema', folder, ['schema.graphql'])
  await copyExample('examples/relay/src', join(folder, 'src'))
  expect(page).toContain('mkdir -p src/__generated__ && echo {} > persisted-queries.json')
  await mkdir(join(folder, 'src/__generated__'))
  await writeFile(join(folder, 'persisted-queries.json'), '{}')
  expect(await run(folder, 'relay-compiler:relay-compiler')).toEqual(succeeded)
  await compile(folder, 'vite', 'next')
  await build(folder, 'examples/relay')
})

test('a project with what the documents copy and install for plain fetch is typed and compiled', async () => {
  const page = await documentOf('client-fetch')
  const [ofFetch = '', ofMocks = ''] = page.split('## Mocks')
  const plain = await createProject([...packagesOf(clients), ...packagesOf(ofFetch)])
  const names = ['ask.ts', 'outbox.ts', 'tagged.ts']
  await copyExample('examples/node/src', join(plain, 'src'), names)
  await generateTypes(plain)
  await compile(plain, 'vite', 'next')
  const apollo = packagesOf(await documentOf('client-apollo'))
  const packages = [
    ...packagesOf(clients),
    ...packagesOf(ofFetch),
    ...packagesOf(ofMocks),
    ...apollo,
  ]
  const whole = await createProject(packages)
  await copyExample('examples/node/src', join(whole, 'src'))
  await generateTypes(whole)
  await compile(whole, 'vite', 'next')
})
