import { existsSync } from 'node:fs'
import { EdgeList } from '../../src/imports/edge-list.ts'
import { randomAt, shuffled } from '../../src/imports/random.ts'
import { TextFile } from '../../src/imports/text-file.ts'
import type { UserId } from '../../src/lib/ids.ts'

/** A follow graph in memory: whom each person is followed by. */
export interface Graph {
  readonly name: string
  readonly people: readonly UserId[]
  readonly followers: ReadonlyMap<UserId, readonly UserId[]>
}

/** Where the files of real graphs are looked for: here and beside this folder. */
const folders = ['.', 'data', '..', '../data', '../shared/data']

/** The file of a real graph; undefined where there is none. */
export const graphFile = (name: string): string | undefined =>
  folders.map((folder) => `${folder}/${name}`).find((file) => existsSync(file))

/** Reed98 (networkrepository.com), friendships both ways; undefined where its file is not there. */
export async function reed98(given?: string): Promise<Graph | undefined> {
  const file = given ?? graphFile('socfb-reed98.edges')
  if (file === undefined || !existsSync(file)) return undefined
  const followers = new Map<UserId, Set<UserId>>()
  const follow = (follower: UserId, followee: UserId) => {
    const held = followers.get(followee) ?? new Set()
    if (follower !== followee) followers.set(followee, held.add(follower))
  }
  for await (const { from, to } of new EdgeList(await TextFile.open(file))) {
    follow(from, to)
    follow(to, from)
  }
  return {
    name: 'Reed98',
    people: [...followers.keys()],
    followers: new Map([...followers].map(([person, held]) => [person, [...held]])),
  }
}

/** A prime, so that every step visits everybody once. */
const zipfPeople = 30_011
const celebrityFollowers = 20_000
/** Person r is followed by 20,000 / (r + 1)^0.69: 50 on average, at least 16. */
const exponent = 0.69

/** Three authors of the generated graph, and how many follow them. */
export const authorsOf = {
  ten: 'z30010' as UserId,
  thousand: 'z76' as UserId,
  celebrity: 'z0' as UserId,
} as const

/** A graph with celebrities, the same every time. */
export function zipfGraph(): Graph {
  const people = Array.from({ length: zipfPeople }, (_, at) => `z${at}` as UserId)
  const fixed = new Map<UserId, number>([
    [authorsOf.celebrity, celebrityFollowers],
    [authorsOf.thousand, 1_000],
    [authorsOf.ten, 10],
  ])
  const followers = people.map((person, rank): [UserId, UserId[]] => {
    const count = fixed.get(person) ?? Math.round(celebrityFollowers / (rank + 1) ** exponent)
    const step = 1 + Math.floor(randomAt(1, rank, 0) * (zipfPeople - 1))
    const follower = (at: number) => people[(rank + (at + 1) * step) % zipfPeople] as UserId
    return [person, Array.from({ length: count }, (_, at) => follower(at))]
  })
  return { name: 'zipf', people, followers: new Map(followers) }
}

/** Whom each person follows. */
export function followeesOf({ followers }: Graph): ReadonlyMap<UserId, readonly UserId[]> {
  const followees = new Map<UserId, UserId[]>()
  for (const [followee, all] of followers) {
    for (const follower of all) {
      const held = followees.get(follower)
      if (held) held.push(followee)
      else followees.set(follower, [followee])
    }
  }
  return followees
}

/** Everybody, in an order that says nothing. */
export const shuffledPeople = ({ people }: Graph): UserId[] =>
  [...shuffled(people.length, 1, 0)].map((at) => people[at] as UserId)
