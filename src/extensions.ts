import type { Command } from 'commander'
import { ConfigError } from './config.ts'

/** A MongoDB that this process has started or joined. */
export interface EmbeddedDatabase {
  readonly uri: string
  /** One line for the log. */
  readonly description: string
  /** Resolves, with a sentence, if the database ends before it is stopped. */
  readonly lost: Promise<string>
  stop(): Promise<void>
}

/** Where an embedded database keeps its data. */
export interface EmbeddedOptions {
  readonly dataFolder: string
  /** Receives a line for each step that takes a while. */
  readonly log: (line: string) => void
}

/** An operation of a client, with the fragments that it uses. */
export interface CollectedDocument {
  /** The SHA-256 of the body. */
  readonly id: string
  readonly name: string
  readonly type: string
  readonly body: string
}

/** What a package adds to the server. */
export interface Extension {
  /** Creates its command of the command line. */
  readonly command?: () => Command
  /** Opens a database where `MONGODB_URI` is absent. */
  readonly openEmbedded?: (options: EmbeddedOptions) => Promise<EmbeddedDatabase>
  /** Reads the documents of a client from a folder, by name. */
  readonly collectDocuments?: (folder: string) => Promise<readonly CollectedDocument[]>
}

const extensions: Extension[] = []

/**
 * Adds a package to this process. Each package calls it when it is loaded; `packages/index.ts`
 * loads all.
 */
export const extend = (extension: Extension): void => void extensions.push(extension)

/** Creates the commands of all packages, in the order in which they were loaded. */
export const extensionCommands = (): Command[] =>
  extensions.flatMap(({ command }) => (command ? [command()] : []))

/** @throws {ConfigError} without a package that opens a database; the errors of that package. */
export async function openEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const open = extensions.find((extension) => extension.openEmbedded)?.openEmbedded
  if (!open)
    throw new ConfigError(['MONGODB_URI: must be set, because this build embeds no mongod'])
  return open(options)
}

/** @throws {Error} without a package that collects documents; the errors of that package. */
export async function collectDocuments(folder: string): Promise<readonly CollectedDocument[]> {
  const collect = extensions.find((extension) => extension.collectDocuments)?.collectDocuments
  if (!collect) throw new Error('This build cannot read the documents of clients.')
  return collect(folder)
}
