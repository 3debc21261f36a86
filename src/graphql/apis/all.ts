import type { FeatureName } from '../../features.ts'
import type { Api } from '../api.ts'
import { accountsApi } from './accounts.ts'
import { coreApi } from './core.ts'
import { engagementApi } from './engagement.ts'
import { followsApi } from './follows.ts'
import { postsApi } from './posts.ts'
import { timelinesApi } from './timelines.ts'

/** The API of each feature. A feature without one does not compile. */
export const apis: Readonly<Record<FeatureName | 'core', Api>> = {
  core: coreApi,
  timelines: timelinesApi,
  accounts: accountsApi,
  follows: followsApi,
  posts: postsApi,
  engagement: engagementApi,
}
