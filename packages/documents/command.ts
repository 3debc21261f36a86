import { writeFile } from 'node:fs/promises'
import { Command, Option } from 'commander'
import { extend } from '../../src/extensions.ts'
import type { DocumentFormat } from './collect.ts'

const formats: readonly DocumentFormat[] = ['relay', 'apollo']

interface DocumentsOptions {
  readonly out: string
  readonly format: DocumentFormat
}

/** Of other commands, only serve and drive need the schema, which takes long to load. */
const loadCollection = () => import('./collect.ts')

/** `feedline documents FOLDER`: writes the file of trusted documents. */
const documentsCommand = (): Command =>
  new Command('documents')
    .description('Write the file of TRUSTED_DOCUMENTS from a folder of .graphql files.')
    .argument('<folder>', 'folder of .graphql and .gql files, with their subfolders')
    .requiredOption('--out <file>', 'file to write')
    .addOption(
      new Option('--format <format>', 'form of the file')
        .choices(formats)
        .default('relay' satisfies DocumentFormat),
    )
    .addHelpText(
      'after',
      `
Each operation needs a name, and may use fragments of all files. The server's schema and limits
must accept it. Its id is the SHA-256 of its text, in which each object has __typename.

Example:
  $ feedline documents src/queries --out documents.json --format apollo
  $ TRUSTED_DOCUMENTS=documents.json feedline serve`,
    )
    .action(async (folder: string, { out, format }: DocumentsOptions) => {
      const { collectDocuments, formatDocuments } = await loadCollection()
      const documents = await collectDocuments(folder)
      await writeFile(out, formatDocuments(documents, format))
      console.log(`documents in ${out}: ${documents.length}`)
    })

extend({
  command: documentsCommand,
  collectDocuments: async (folder) => (await loadCollection()).collectDocuments(folder),
})
