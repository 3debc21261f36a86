import { pairKey } from '../follows/pair-lists.ts'
import { batches } from '../lib/batch.ts'
import type { UserId } from '../lib/ids.ts'
import { findAccounts } from './accounts.ts'
import { combineCounts } from './checkpoint.ts'
import { classifyRows, type RelationCounts, withEvents, zeroCounts } from './classify-rows.ts'
import {
  batchRows,
  type RelationImportOptions,
  type RelationImportResult,
} from './import-relations.ts'
import type { ImportServices } from './importer.ts'

/**
 * Returns what `importRelations` would write now, and writes nothing. Holds the users and pairs of the file in
 * memory: about 200 bytes per row. Cost: five to eight commands per batch.
 * @throws {DomainError} BAD_USER_INPUT if the file cannot be read to its end.
 */
export async function previewRelations(
  { collections, transactions }: ImportServices,
  { file, batchSize = batchRows, signal, onProgress, now = Date.now }: RelationImportOptions,
): Promise<RelationImportResult> {
  const [users, seen] = [new Set<UserId>(), new Set<string>()]
  let total: RelationCounts = zeroCounts
  for await (const rows of batches(file.rows(now()), batchSize)) {
    signal?.throwIfAborted()
    const { accounts, fresh, counts } = await transactions.run(async (tx) => {
      const accounts = await findAccounts(collections, tx, { pairs: withEvents(rows) })
      return { accounts, ...(await classifyRows(collections, tx, { rows, accounts, seen })) }
    })
    const usersBefore = users.size
    for (const id of accounts.opened) users.add(id)
    for (const row of fresh) seen.add(pairKey(row))
    total = combineCounts(total, { ...counts, users: users.size - usersBefore }, 1)
    const { bytesRead, sizeBytes } = file.file
    onProgress?.({ done: bytesRead, total: sizeBytes, written: total.pairs })
  }
  return { written: total, total, ...file.findings }
}
