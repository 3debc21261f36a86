import { expect, test } from 'vitest'
import { userNodeId } from '../../src/graphql/node-id.ts'
import type { Handle, UserId } from '../../src/lib/ids.ts'
import { runCommand } from '../support/command-line.ts'
import { subjectOf, useServices } from '../support/services.ts'

const harness = useServices()

async function run(...args: string[]) {
  const { uri, name } = harness.database
  const { code, stdout, stderr } = await runCommand(['handles', ...args], {
    ...{ MONGODB_URI: uri, MONGODB_DATABASE: name },
  })
  return { code, out: stdout, err: stderr }
}

test('feedline handles shows, frees and moves handles, as text and as JSON', async () => {
  const { users } = harness.services
  const open = async (sub: string) =>
    ((await users.register(subjectOf(sub), { name: 'N' })) as { id: UserId }).id
  const [ann, ben] = [await open('ann'), await open('ben')]
  await users.update(ann, { handle: 'anna' as Handle })
  const shown = await run('show', '@Ann')
  expect(shown.out).toMatch(
    new RegExp(`^The account ${ann}, now "anna", keeps "ann" until 20\\S+Z\\.\\n$`),
  )
  expect(JSON.parse((await run('show', 'admin', '--json')).out)).toEqual({
    ...{ handle: 'admin', isReserved: true, holder: null },
  })
  const dry = JSON.parse((await run('free', 'ann', '--dry-run', '--json')).out)
  expect(dry).toMatchObject({ action: 'free', dryRun: true, changed: true, renamed: [] })
  expect((await run('show', 'ann')).out).toBe(shown.out)
  const freed = await run('free', 'ann')
  expect(freed.out.split('\n')[1]).toMatch(
    new RegExp(`^20\\S+Z free "ann": from ${ann} to no account$`),
  )
  expect((await run('free', 'ann')).out).toContain('free "ann": nothing to change\n')
  const refused = await run('move', 'anna', 'ben')
  expect(refused).toMatchObject({ code: 1, out: '' })
  expect(refused.err).toBe(
    `feedline: "anna" is the present handle of the account ${ann}. Name another handle for this account with --rename-to.\n`,
  )
  const moved = await run('move', 'anna', userNodeId(ben), '--rename-to', 'ann-2')
  expect(moved.code).toBe(0)
  expect(moved.out.split('\n')[1]).toMatch(
    new RegExp(
      `^20\\S+Z move "anna": from ${ann} to ${ben}; account ${ben} from "ben" to "anna", keeps "ben" until 20\\S+Z; account ${ann} from "anna" to "ann-2"$`,
    ),
  )
  expect((await run('move', 'support', ben)).code).toBe(0)
  expect(await run('show', 'support')).toMatchObject({
    out: `The account ${ben} has "support". It is reserved.\n`,
  })
  for (const [args, problem] of [
    [['show', 'no handle'], 'is not a handle'],
    [['move', 'x', '!'], '"!" names no account'],
    [['move', 'x', 'nobody-there'], 'There is no account'],
  ] as const) {
    const { code, err } = await run(...args)
    expect([code, err]).toEqual([1, expect.stringContaining(problem)])
  }
})
