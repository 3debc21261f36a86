/** The names of the rivals' sides. */
export const rivalNames = {
  postgresApollo: 'PostgreSQL, Apollo',
  postgresPlain: 'PostgreSQL, node:http',
  redisApollo: 'Redis, Apollo',
  redisPlain: 'Redis, node:http',
  oneDocument: 'one document',
  bareGrouped: 'bare driver, grouped',
} as const

/** Why there are no sides on a database. */
export const rivalsMissing = {
  postgres:
    'PostgreSQL was not found, so its sides are skipped. Debian has it: apt-get install postgresql',
  redis:
    'redis-server was not found, so its sides are skipped. Debian has it: apt-get install redis-server',
} as const
