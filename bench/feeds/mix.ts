import { setTimeout as sleep } from 'node:timers/promises'
import { randomAt } from '../../src/imports/random.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { driveOpen, type OpenLoad, quantile } from '../drive.ts'
import type { BenchOptions } from '../options.ts'
import type { Graph } from './graph.ts'

/** A way of serving the mix. */
export interface MixWay {
  /** The first page of a reader's timeline. */
  home(reader: UserId): Promise<unknown>
  /** The first page of what one author posted. */
  wall(author: UserId): Promise<unknown>
  /** Resolves with the post's id when the author has their answer; deliveries may be under way. */
  compose(author: UserId, text: string): Promise<string>
  /** Whether a reader sees a post. */
  sees(reader: UserId, post: string): Promise<boolean>
  /** Resolves when nothing is under way. */
  idle(): Promise<void>
  /** How many of its newest entries a reader has for certain. */
  readonly keeps: number
  /** How many entries of these posts their authors' followers have. */
  entries(posts: ReadonlyMap<string, UserId>): Promise<number>
}

/** What one rate gave. */
export interface Step {
  readonly perSecond: number
  readonly load: OpenLoad
  /** Deliveries of the step counted in: operations a second until the last post had arrived everywhere. */
  readonly arrived: number
  /** From compose until a follower's page shows the post, of one post in four. */
  readonly visibleP99Ms: number
  readonly holds: boolean
}

const p99MsMax = 100
const achievedMin = 0.95

/** The most operations a second that hold, and what that rate gave. */
export interface Knee {
  readonly knee: number
  readonly at: Step | undefined
}

/** The most operations a second that hold: half as many more until they fail twice, then by halves to within 8 %. */
export async function kneeOf(
  name: string,
  way: MixWay,
  graph: Graph,
  { rate, ms, say }: BenchOptions,
): Promise<Knee> {
  let [holds, fails] = [0, Number.POSITIVE_INFINITY]
  let best: Step | undefined
  await run(way, graph, Math.ceil(rate / 2), ms)
  for (let next = rate; fails / Math.max(holds, 1) > 1.08 && next >= 10; ) {
    let step = await run(way, graph, Math.round(next), ms)
    if (!step.holds) step = await run(way, graph, Math.round(next), ms)
    say(`${name}: ${describe(step)}`)
    if (step.holds) [holds, best] = [next, step]
    else fails = next
    next = fails === Number.POSITIVE_INFINITY ? next * 1.5 : (holds + fails) / 2
  }
  return { knee: holds, at: best }
}

const describe = ({ perSecond, load, arrived, visibleP99Ms, holds }: Step) =>
  `${perSecond} a second: ${arrived.toFixed(0)} done, p50 ${load.p50Ms.toFixed(1)} ms, ` +
  `p99 ${load.p99Ms.toFixed(1)} ms, visible p99 ${visibleP99Ms.toFixed(0)} ms${holds ? '' : ', too many'}`

/** 60 % home timelines, 30 % authors' posts, 10 % new posts, everybody alike, at a fixed rate. */
async function run(way: MixWay, graph: Graph, perSecond: number, ms: number): Promise<Step> {
  const { people } = graph
  const posts = new Map<string, UserId>()
  const visible: Promise<number>[] = []
  const someone = (at: number) =>
    people[Math.floor(randomAt(perSecond, at, 1) * people.length)] as UserId
  const compose = async (at: number) => {
    const [author, begin] = [someone(at), performance.now()]
    const post = await way.compose(author, textAt(at))
    posts.set(post, author)
    const follower = graph.followers.get(author)?.at(-1)
    if (posts.size % 4 === 0 && follower) visible.push(seenAfter(way, follower, post, begin))
  }
  const begin = performance.now()
  const load = await driveOpen(perSecond, ms, (at) => {
    const kind = randomAt(perSecond, at, 0)
    if (kind < 0.6) return way.home(someone(at))
    return kind < 0.9 ? way.wall(someone(at)) : compose(at)
  })
  await way.idle()
  // What was posted last may take as long to arrive as an answer may.
  const seconds = Math.max(ms, performance.now() - begin - p99MsMax) / 1000
  const took = await Promise.all(visible)
  await checkEntries(way, graph, posts)
  const arrived = Math.round((perSecond * ms) / 1000) / seconds
  const p99 = load.p99Ms <= p99MsMax && load.failed === 0
  const holds = p99 && arrived >= achievedMin * perSecond
  return { perSecond, load, arrived, visibleP99Ms: quantile(took, 0.99), holds }
}

const textAt = (at: number) => `Post ${at} of the mix, as long as messages usually are here.`

const seenMsMax = 20_000

async function seenAfter(way: MixWay, reader: UserId, post: string, begin: number) {
  while (!(await way.sees(reader, post))) {
    if (performance.now() - begin > seenMsMax) return Number.NaN
    await sleep(5)
  }
  return performance.now() - begin
}

/** @throws unless every follower has each post, or as many of the newest as are kept. */
async function checkEntries(way: MixWay, graph: Graph, posts: ReadonlyMap<string, UserId>) {
  const held = new Map<UserId, number>()
  for (const author of posts.values()) {
    for (const reader of graph.followers.get(author) ?? []) {
      held.set(reader, (held.get(reader) ?? 0) + 1)
    }
  }
  const least = [...held.values()].reduce((sum, count) => sum + Math.min(count, way.keeps), 0)
  const entries = await way.entries(posts)
  if (entries < least) throw new Error(`${entries} entries of ${least}`)
}
