import { alignColumns } from '../../src/cli/table.ts'
import { constants } from './constants.ts'
import { countEdges, countUsers } from './degrees.ts'
import type { CapacityInputs } from './inputs.ts'
import type { CapacityPlan, StrategyPlan } from './plan.ts'

const gb = (bytes: number): string => formatNumber(bytes / 1e9)

/** A number with three significant digits, and separators of thousands. */
const formatNumber = (value: number): string =>
  Number(value.toPrecision(3)).toLocaleString('en-US', { maximumFractionDigits: 2 })

/** The rows of the table, with one column for each strategy. */
const rows: readonly (readonly [label: string, cell: (plan: StrategyPlan) => string])[] = [
  ['storage of timelines, GB', ({ timelineBytes }) => gb(timelineBytes)],
  ['storage of all, GB', ({ baseBytes, timelineBytes }) => gb(baseBytes + timelineBytes)],
  ['growth a day, GB', ({ growthBytesPerDay }) => gb(growthBytesPerDay)],
  ['deliveries/s', ({ deliveriesPerSecond }) => formatNumber(deliveriesPerSecond)],
  ['written documents/s', ({ writesPerSecond }) => formatNumber(writesPerSecond)],
  ['oplog, MB/s', ({ oplogBytesPerSecond }) => formatNumber(oplogBytesPerSecond / 1e6)],
  [
    'a page, server + mongod, µs',
    ({ page }) => `${formatNumber(page.serverUs)} + ${formatNumber(page.mongodUs)}`,
  ],
  ['cores of all mongods', ({ mongodCores }) => formatNumber(mongodCores)],
  ['server processes', ({ servers }) => formatNumber(servers)],
  ['worker processes', ({ workers }) => formatNumber(workers)],
  ['shards by processor', ({ shardsByProcessor }) => formatNumber(shardsByProcessor)],
  ['shards by disk', ({ shardsByDisk }) => formatNumber(shardsByDisk)],
  ['shards', ({ shards }) => formatNumber(shards)],
  ['cores of all', ({ cores }) => formatNumber(cores)],
]

/** The plan as text: the graph, a table, the first limit of each strategy, and the choice. */
export function formatPlan(inputs: CapacityInputs, plan: CapacityPlan): string {
  const { strategies, choice, reason } = plan
  const [highest] = inputs.followers
  const graph =
    `${formatNumber(countUsers(inputs.followers))} users, ${formatNumber(countEdges(inputs.followers))} edges, ` +
    `${formatNumber(highest?.degree ?? 0)} followers at most. After ${formatNumber(inputs.days)} days.`
  const table = alignColumns([
    ['', ...strategies.map(({ strategy }) => strategy)],
    ...rows.map(([label, cell]) => [label, ...strategies.map(cell)]),
  ])
  return [
    graph,
    '',
    ...table,
    '',
    'On one replica set, this ends first:',
    ...alignColumns(strategies.map(limitRow)),
    '',
    `Choose ${choice}. ${reason}`,
    `Costs were measured on ${constants.runs.graph.date}: ${constants.runs.graph.machine}.`,
  ].join('\n')
}

function limitRow({ strategy, firstLimit }: StrategyPlan): string[] {
  const { resource, needed, limit, unit, loadShare } = firstLimit
  const share = `at ${formatNumber(loadShare * 100)} % of this load`
  return [strategy, share, `${resource}: ${formatNumber(needed)} of ${formatNumber(limit)} ${unit}`]
}
