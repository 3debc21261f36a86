import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { parse } from 'yaml'
import { root } from './process.ts'

type Environment = Readonly<Record<string, string>>

interface Service {
  readonly build?: string
  readonly restart?: string
  readonly command?: readonly string[]
  readonly env_file?: readonly { readonly path: string; readonly required: boolean }[]
  readonly environment?: Readonly<Record<string, string | number | null>>
  readonly ports?: readonly string[]
}

/** The Compose files that the repository ships. */
export const composeFiles = ['compose.yaml', 'compose.sharded.yaml'] as const
type ComposeFile = (typeof composeFiles)[number]

/** The services of a Compose file, before its variables are resolved. */
export const servicesOf = (file: ComposeFile): Readonly<Record<string, Service>> =>
  parse(readFileSync(join(root, file), 'utf8'), { merge: true }).services

/** The variables that the image sets itself. */
export function imageEnvironment(): Environment {
  const [, pairs = ''] = /^ENV (.*)$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? []
  return Object.fromEntries(pairs.split(' ').map((pair) => pair.split('=')))
}

/** What an operator sets for Compose. */
export interface ComposeInput {
  /** The text of `.env` beside the Compose file. Absent: there is no such file. */
  readonly dotEnv?: string
  /** The variables of the shell. */
  readonly shell?: Environment
}

/** `${NAME}` with a default, the only form of interpolation in these files. */
const interpolated = (text: string, values: Environment) =>
  text.replace(/\$\{(\w+):-([^}]*)\}/g, (_, name, standard) => values[name] || standard)

/**
 * Resolves the environment and ports of a service as the Compose specification says: a shell
 * precedes `.env`, `environment` precedes `env_file`, and a name without a value is passed on if it
 * is set.
 * @see https://github.com/compose-spec/compose-spec/blob/main/spec.md
 */
function resolveHere(file: ComposeFile, name: string, { dotEnv, shell = {} }: ComposeInput) {
  const service = servicesOf(file)[name]
  if (!service) throw new Error(`${file} has no service ${name}`)
  const values = { ...(parseEnv(dotEnv ?? '') as Environment), ...shell }
  const ofFiles = (service.env_file ?? []).flatMap(({ path, required }) => {
    if (path !== '.env') throw new Error(`the file ${path} is not resolved`)
    if (dotEnv === undefined && required) throw new Error(`${path} is required`)
    return Object.entries(parseEnv(dotEnv ?? ''))
  })
  const environment = new Map(ofFiles as readonly (readonly [string, string])[])
  for (const [variable, value] of Object.entries(service.environment ?? {})) {
    const resolved = value === null ? values[variable] : interpolated(`${value}`, values)
    if (resolved === undefined) environment.delete(variable)
    else environment.set(variable, resolved)
  }
  const ports = (service.ports ?? []).map((port) => interpolated(port, values))
  return { environment: Object.fromEntries(environment), ports }
}

/** Whether `docker compose` runs here. It resolves files without an engine. */
export function hasCompose(): boolean {
  try {
    execFileSync('docker', ['compose', 'version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** The environment of a service as `docker compose config` resolves it. */
async function resolveByCompose(file: ComposeFile, name: string, input: ComposeInput) {
  const folder = await mkdtemp(join(tmpdir(), 'feedline-compose-'))
  await copyFile(join(root, file), join(folder, file))
  if (input.dotEnv !== undefined) await writeFile(join(folder, '.env'), input.dotEnv)
  const { PATH = '', HOME = '' } = process.env
  const args = ['compose', '-f', file, 'config', '--format', 'json']
  const env = { PATH, HOME, ...input.shell }
  const { services } = JSON.parse(execFileSync('docker', args, { cwd: folder, env }).toString())
  await rm(folder, { recursive: true })
  const variables = Object.entries<string | null>(services[name].environment)
  return Object.fromEntries(variables.filter(([, value]) => value !== null)) as Environment
}

/**
 * The environment of a container of a Compose file: that of the image, and above it that of the
 * service. Where `docker compose` runs, its own resolution must be the same.
 */
export async function containerEnvironment(
  file: ComposeFile,
  name: string,
  input: ComposeInput,
): Promise<Environment> {
  const { environment } = resolveHere(file, name, input)
  if (hasCompose()) {
    const resolved = await resolveByCompose(file, name, input)
    const same = JSON.stringify(Object.entries(resolved).sort())
    if (JSON.stringify(Object.entries(environment).sort()) !== same)
      throw new Error(`docker compose resolves ${file} to ${same}`)
  }
  return { ...imageEnvironment(), ...environment }
}

/** The published ports of a service. */
export const portsOf = (file: ComposeFile, name: string, input: ComposeInput) =>
  resolveHere(file, name, input).ports

/** The text of `.env` with these variables, as an operator writes them. */
export const dotEnvOf = (variables: Environment): string =>
  Object.entries(variables)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
