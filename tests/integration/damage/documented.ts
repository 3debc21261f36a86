import { readFile } from 'node:fs/promises'

const page = new URL('../../../docs/reference/integrity.md', import.meta.url)

/** The text of docs/reference/integrity.md. */
export const readIntegrityPage = (): Promise<string> => readFile(page, 'utf8')

/** An invariant as docs/reference/integrity.md lists it. */
export interface DocumentedInvariant {
  readonly law: string
  readonly name: string
  /** The kinds of its findings. */
  readonly kinds: readonly string[]
}

/** The rows of the table of invariants in docs/reference/integrity.md. */
export async function documentedInvariants(): Promise<DocumentedInvariant[]> {
  const [, section = ''] = /^## The invariants\n(.*?)^## /ms.exec(await readIntegrityPage()) ?? []
  const rows = section.matchAll(/^\| (L\d) \| `([^`]+)` \| .* \| (.*) \|$/gm)
  return Array.from(rows, ([, law = '', name = '', kinds = '']) => ({
    law,
    name,
    kinds: Array.from(kinds.matchAll(/`([^`]+)`/g), ([, kind = '']) => kind),
  }))
}
