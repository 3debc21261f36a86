import { Counter, Gauge, Histogram } from 'prom-client'
import { durationBuckets, registry } from './registry.ts'

const registers = [registry]

/** Durations of MongoDB commands. */
export const commandSeconds = new Histogram({
  name: 'feedline_mongodb_command_seconds',
  help: 'Time of a MongoDB command, from sending it to its answer',
  labelNames: ['command', 'collection'],
  buckets: durationBuckets,
  registers,
})

/** Failed MongoDB commands, by the name of the server's error code. */
export const commandFailures = new Counter({
  name: 'feedline_mongodb_command_failures_total',
  help: 'MongoDB commands that failed, each try of a retried command included',
  labelNames: ['command', 'collection', 'error'],
  registers,
})

/** Connections of all pools. */
export const connections = new Gauge({
  name: 'feedline_mongodb_connections',
  help: 'Open connections to MongoDB, and those in use by a command',
  labelNames: ['state'],
  registers,
})

/** Commands that wait for a connection. */
export const poolWaiting = new Gauge({
  name: 'feedline_mongodb_pool_waiting',
  help: 'Commands that wait for a connection to MongoDB',
  registers,
})

/** How long commands waited for a connection. */
export const poolWaitSeconds = new Histogram({
  name: 'feedline_mongodb_pool_wait_seconds',
  help: 'Time that a command waited for a connection to MongoDB',
  buckets: durationBuckets,
  registers,
})

/** Commands that got no connection. */
export const poolFailures = new Counter({
  name: 'feedline_mongodb_pool_failures_total',
  help: 'Commands that got no connection to MongoDB',
  labelNames: ['reason'],
  registers,
})
