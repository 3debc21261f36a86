import type { FollowEdge } from '../../src/follows/edges.ts'
import { chunks } from '../../src/lib/batch.ts'
import type { Services } from '../../src/services.ts'
import { persist } from './eventually.ts'

/**
 * Stores follows in bulk, without counters. A slow machine cannot store thousands within the time
 * limit of a transaction, so it takes one for each 200.
 * @param history whether the follows get one. Default: yes.
 */
export async function storeEdges(
  { transactions, edges }: Pick<Services, 'transactions' | 'edges'>,
  follows: readonly FollowEdge[],
  { history = true } = {},
): Promise<void> {
  for (const some of chunks(follows, 200)) {
    await persist(() =>
      transactions.run((tx) => (history ? edges.insert(tx, some) : edges.store(tx, some))),
    )
  }
}
