import { engagementApi } from '../engagement/api.ts'
import type { FeatureName } from '../features.ts'
import { followsApi } from '../follows/api.ts'
import { postsApi } from '../posts/api.ts'
import { timelinesApi } from '../timeline/api.ts'
import { accountsApi } from '../users/api.ts'
import type { Api } from './api.ts'
import { coreApi } from './core-api.ts'
import type { NodeReaders } from './nodes.ts'

/** The API of each feature. A feature without one does not compile. */
export const apis: Readonly<Record<FeatureName | 'core', Api>> = {
  core: coreApi,
  timelines: timelinesApi,
  accounts: accountsApi,
  follows: followsApi,
  posts: postsApi,
  engagement: engagementApi,
}

/** What reads the objects of each type. A type without a reader does not compile. */
export const nodeReaders: NodeReaders = {
  ...accountsApi.nodes,
  ...postsApi.nodes,
  ...engagementApi.nodes,
}
