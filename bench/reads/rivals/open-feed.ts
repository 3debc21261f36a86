import { Redis } from 'ioredis'
import { PostgresFeed } from './postgres-feed.ts'
import { RedisFeed } from './redis-feed.ts'
import type { RivalFeed } from './rival-feed.ts'

/** What a server of a rival needs: the port of its database. */
export type RivalConfig = { readonly redisPort: number } | { readonly postgresPort: number }

/** Opens the feed on a database. Its connections end with the process. */
export const openFeed = (config: RivalConfig): RivalFeed =>
  'redisPort' in config
    ? new RedisFeed(new Redis({ port: config.redisPort }))
    : PostgresFeed.open(config.postgresPort)
