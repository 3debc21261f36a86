import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { useApp } from '../support/app.ts'
import { root } from '../support/process.ts'

const app = useApp()
const folder = join(root, 'test-dist/codegen')

/** Runs a program of the packages in the folder. @returns its exit code and output. */
const run = (program: string, ...args: string[]) =>
  promisify(execFile)(join(root, 'node_modules/.bin', program), args, { cwd: folder }).then(
    ({ stdout }) => ({ code: 0, out: stdout }),
    ({ code, stdout, stderr }) => ({ code, out: stdout + stderr }),
  )

const uses = `import type { UserRef } from './gql/graphql'

export const byHandle: UserRef = { handle: 'bob' }
export const byId: UserRef = { id: 'x' }
// @ts-expect-error
export const byNone: UserRef = {}
// @ts-expect-error
export const byBoth: UserRef = { handle: 'bob', id: 'x' }
// @ts-expect-error
export const byNull: UserRef = { handle: null }
`
const follow =
  'mutation Follow($input: FollowUserInput!) { followUser(input: $input) { changed } }\n'
const options = {
  ...{ strict: true, noEmit: true, module: 'esnext', moduleResolution: 'bundler' },
  ...{ target: 'es2022', skipLibCheck: true, types: [] },
}

test('the documented codegen.ts types an input with @oneOf as its exact union', async () => {
  const docs = await readFile(join(root, 'docs/how-to/clients.md'), 'utf8')
  const [, config = ''] = /```\w*\n(import type \{ CodegenConfig \}[\s\S]*?)```/.exec(docs) ?? []
  expect(config).toContain("'http://localhost:4000/graphql'")
  const typesOf = async (text: string) => {
    await rm(folder, { recursive: true, force: true })
    await mkdir(join(folder, 'src'), { recursive: true })
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    await writeFile(join(folder, 'codegen.ts'), text.replace('http://localhost:4000', app.url))
    await writeFile(join(folder, 'src/follow.graphql'), follow)
    await writeFile(join(folder, 'src/uses.ts'), uses)
    const compilerOptions = JSON.stringify({ compilerOptions: options, include: ['src', '*.ts'] })
    await writeFile(join(folder, 'tsconfig.json'), compilerOptions)
    const generated = await run('graphql-codegen', '--config', 'codegen.ts')
    expect(generated.code, generated.out).toBe(0)
    return run('tsc', '--noEmit')
  }
  expect(await typesOf(config)).toEqual({ code: 0, out: '' })
  const without = await typesOf(config.replace('oneOf: true', ''))
  expect(without.out).toContain('Unused')
  await rm(folder, { recursive: true, force: true })
})
