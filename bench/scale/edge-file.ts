import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomAt } from '../../packages/drive/random.ts'

/** The size of the graph of GitHub's developers (musae-github), and how fast its degrees fall. */
const [people, friendships, exponent] = [37_700, 289_003, 0.55]

/** An edge list in a temporary folder, which is deleted when the file is disposed of. */
export interface EdgeFile extends AsyncDisposable {
  readonly path: string
  /** Friendships: each is a follow in both directions. */
  readonly lines: number
}

/**
 * Writes a graph with the size of a real one: 37,700 people and 289,003 friendships. The most
 * popular person has about 5,000 of them, half of the people have fewer than nine. The lines are in
 * the order of their first name, as exports are. The graph is the same in each run.
 */
export async function writeEdgeFile(scale = 1): Promise<EdgeFile> {
  const folder = await mkdtemp(join(tmpdir(), 'feedline-scale-'))
  const path = join(folder, 'friends.csv')
  const names = listFriendships(friendships * scale, Math.round(people * scale)).map(
    ([one, other]) => `p${one},p${other}`,
  )
  await writeFile(path, `from,to\n${names.join('\n')}\n`)
  const dispose = () => rm(folder, { recursive: true, force: true })
  return { path, lines: names.length, [Symbol.asyncDispose]: dispose }
}

function listFriendships(friendships: number, people: number): [number, number][] {
  const found = new Map<number, [number, number]>()
  // Everyone has one friend, so that the graph has all people.
  for (let at = 0; found.size < friendships; at++) {
    const one = at < people ? at : pickPerson(at, 0, people)
    const other = pickPerson(at, 1, people)
    if (one === other) continue
    const pair: [number, number] = [Math.min(one, other), Math.max(one, other)]
    found.set(pair[0] * people + pair[1], pair)
  }
  return [...found.entries()].sort(([one], [other]) => one - other).map(([, pair]) => pair)
}

/** Person number r is picked with the weight r^-0.55, and stands at a random place of the file. */
function pickPerson(at: number, stream: number, people: number): number {
  const rank = Math.floor(people * randomAt(1, at, stream) ** (1 / (1 - exponent)))
  return Math.floor(randomAt(2, rank, 0) * people)
}
