import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  parseRelation,
  type Relation,
  RelationFile,
  relationColumns,
  relationSources,
  resolveRelation,
} from '../../packages/import/relation-file.ts'
import { badLinesKept } from '../../packages/import/text-file.ts'
import type { Handle } from '../../src/lib/ids.ts'

const nowMs = Date.UTC(2026, 0, 1)

/** Times of Twitter, Facebook, Medium, the unfollow and the latest follow. */
const relation = (...times: readonly number[]): Relation => {
  const [TWITTER = 0, FACEBOOK = 0, MEDIUM = 0, unfollowedAt = 0, latestFollowedAt = 0] = times
  const followedAt = { TWITTER, FACEBOOK, MEDIUM }
  return {
    follower: 'a' as Handle,
    followee: 'b' as Handle,
    followedAt,
    unfollowedAt,
    latestFollowedAt,
  }
}

/** `+T5` for a follow from Twitter at 5, `-T9` for its end at 9. */
const history = (...times: readonly number[]) =>
  resolveRelation(relation(...times))
    .events.map(({ type, source, atMs }) => `${type === 'FOLLOWED' ? '+' : '-'}${source[0]}${atMs}`)
    .join(' ')

describe('the history of a row', () => {
  test.each([
    ['a follow', [0, 0, 5, 0, 5], '+M5'],
    ['the first source is that of the edge', [7, 5, 9, 0, 9], '+F5'],
    ['an unfollow ends it, with the source it had', [5, 0, 7, 9, 0], '+T5 -T9'],
    ['a follow after it begins another stretch', [5, 0, 12, 9, 12], '+T5 -T9 +M12'],
    ['whose source is the first of its own', [5, 14, 12, 9, 14], '+T5 -T9 +M12'],
    ['an unfollow of what was not followed changes nothing', [0, 0, 9, 5, 9], '+M9'],
    ['at one moment the unfollow is the later', [0, 0, 9, 9, 0], '+M9 -M9'],
    ['at one moment the source that stands first is the first', [9, 9, 9, 0, 9], '+T9'],
    ['nothing', [], ''],
    ['an unfollow alone', [0, 0, 0, 9, 0], ''],
  ])('the history of a row with %s', (_, times, expected) => {
    expect(history(...times)).toBe(expected)
  })

  const time = fc.nat({ max: 6 })
  const row = fc.tuple(time, time, time, time, time)

  test('the history of a row is sorted by time, alternates, and ends with the latest event', () => {
    const check = (times: readonly number[]) => {
      const given = relation(...times)
      const { events } = resolveRelation(given)
      events.forEach(({ type, atMs }, at) => {
        expect(type).toBe(at % 2 === 0 ? 'FOLLOWED' : 'UNFOLLOWED')
        expect(atMs).toBeGreaterThanOrEqual(events[at - 1]?.atMs ?? 1)
      })
      const greatest = Math.max(...Object.values(given.followedAt))
      expect(events.at(-1)?.type === 'FOLLOWED').toBe(greatest > given.unfollowedAt)
    }
    fc.assert(fc.property(row, check))
  })

  test('the history of a row agrees with the times of the row at every moment', () => {
    const check = (times: readonly number[]) => {
      const { followedAt, unfollowedAt, ...rest } = relation(...times)
      const { events } = resolveRelation({ followedAt, unfollowedAt, ...rest })
      for (let at = 1; at <= 6; at++) {
        const follows = relationSources.map((source) => followedAt[source])
        const latest = Math.max(...follows.filter((one) => one <= at), 0)
        const ended = unfollowedAt <= at ? unfollowedAt : 0
        expect(events.findLast(({ atMs }) => atMs <= at)?.type === 'FOLLOWED').toBe(latest > ended)
      }
    }
    fc.assert(fc.property(row, check))
  })
})

describe('contradictions', () => {
  test.each([
    ['none: follows', [0, 0, 5, 0, 5], undefined],
    ['none: unfollowed', [0, 0, 5, 9, 0], undefined],
    ['none: followed again', [3, 0, 12, 9, 12], undefined],
    ['none: no times', [], undefined],
    ['a follow after the unfollow, and latest 0', [12, 0, 5, 9, 0], 'followed-not-counted'],
    ['a follow without unfollow, and latest 0', [0, 5, 0, 0, 0], 'followed-not-counted'],
    ['an unfollow after the latest', [0, 0, 5, 9, 5], 'unfollowed-still-counted'],
    ['also where a follow is later still', [12, 0, 5, 9, 5], 'unfollowed-still-counted'],
    ['an unfollow alone', [0, 0, 0, 9, 0], 'never-followed'],
    ['an unfollow, and a latest of no source', [0, 0, 0, 9, 12], 'never-followed'],
    ['latest is an earlier follow', [5, 0, 9, 0, 5], 'latest-disagrees'],
    ['latest is no follow', [0, 0, 9, 0, 11], 'latest-disagrees'],
    ['latest of no source', [0, 0, 0, 0, 5], 'latest-disagrees'],
    ['an unfollow at the moment of the latest', [0, 0, 9, 9, 9], 'latest-disagrees'],
  ])('a row contradicts itself: %s', (_, times, expected) => {
    expect(resolveRelation(relation(...times)).contradiction).toBe(expected)
  })
})

describe('a row', () => {
  const pair = { user_id: 'Ann', target_user_id: 42 }
  const at = Date.UTC(2015, 5, 1, 12)

  test.each([
    ['milliseconds as a number', at],
    ['milliseconds as text', `${at}`],
    ['ISO 8601 in UTC', '2015-06-01T12:00:00Z'],
    ['ISO 8601 with a zone and a fraction', '2015-06-01T14:00:00.000+02:00'],
  ])('a row with %s is accepted', (_, time) => {
    expect(parseRelation({ ...pair, twitter_followed_at: time }, nowMs)).toEqual({
      follower: 'ann',
      followee: '42',
      followedAt: { TWITTER: at, FACEBOOK: 0, MEDIUM: 0 },
      unfollowedAt: 0,
      latestFollowedAt: 0,
    })
  })

  test.each([[0], ['0'], [''], [null], ['NULL']])('the time %j means never', (time) => {
    const read = parseRelation({ ...pair, medium_unfollowed_at: time }, nowMs)
    expect(read).toMatchObject({ unfollowedAt: 0 })
  })

  test.each([
    [{ ...pair, since: 1 }, /^"since" is not a known column. Known columns: user_id, /],
    [{ user_id: 'a' }, /^target_user_id: nothing is not a handle/],
    [{ user_id: 'a b', target_user_id: 'c' }, /^user_id: "a b" is not a handle/],
    [{ user_id: 'A', target_user_id: 'a' }, /^"a" would follow itself$/],
    [{ ...pair, latest_followed_at: 'soon' }, /^latest_followed_at: "soon" is neither epoch/],
    [{ ...pair, latest_followed_at: true }, /^latest_followed_at: true is neither epoch/],
    [{ ...pair, medium_followed_at: '2015-02-30T00:00:00Z' }, /is neither epoch/],
    [{ ...pair, medium_followed_at: '2015-02-03T00:00:00' }, /ISO 8601 with a zone$/],
    [{ ...pair, medium_followed_at: at / 1000 }, /is before 2000: epoch times are in milli/],
    [{ ...pair, medium_followed_at: nowMs + 1 }, /is in the future$/],
  ])('a row with %j is refused', (fields, problem) => {
    expect(parseRelation(fields, nowMs)).toMatch(problem)
  })
})

describe('a file', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'feedline-relations-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  async function open(content: string | Buffer) {
    const path = join(folder, 'relations')
    await writeFile(path, content)
    return RelationFile.open(path)
  }
  async function read(content: string | Buffer) {
    const file = await open(content)
    const rows: string[] = []
    for await (const { line, follower, followee, events } of file.rows(nowMs)) {
      rows.push(`${line} ${follower}>${followee} ${events.map(({ source }) => source)}`)
    }
    return { ...file.findings, rows }
  }
  const at = Date.UTC(2015, 5, 1)
  const csv = `${relationColumns.join(',')}\na,b,${at},0,0,0,${at}\n\nb,c,,,${at},null,${at}\n`

  test('a relation file may be CSV with quotes, Windows line ends and columns in any order', async () => {
    const expected = ['2 a>b TWITTER', '4 b>c MEDIUM']
    expect((await read(csv)).rows).toEqual(expected)
    expect((await read(csv.replaceAll(/[^,\n]+/g, '"$&"'))).rows).toEqual(expected)
    expect((await read(`\uFEFF${csv.replaceAll('\n', '\r\n')}`)).rows).toEqual(expected)
    const short = `target_user_id,medium_followed_at,user_id\nb,${at},a\n`
    expect((await read(short)).rows).toEqual(['2 a>b MEDIUM'])
  })

  test('a relation file may be JSONL, and both formats may be gzipped', async () => {
    const row = {
      user_id: 'a',
      target_user_id: 'b',
      facebook_followed_at: at,
      latest_followed_at: 0,
    }
    const expected = { rows: ['1 a>b FACEBOOK'], bad: { count: 0, first: [] } }
    expect(await read(`${JSON.stringify(row)}\n`)).toMatchObject(expected)
    expect(await read(gzipSync(JSON.stringify(row)))).toMatchObject(expected)
    expect((await read(gzipSync(csv))).rows).toHaveLength(2)
  })

  test.each([
    ['semicolons', (text: string) => text.replaceAll(',', ';')],
    [
      'sep=, tabs, and a separator at each end',
      (text: string) => `sep=\t\r\n${text.replaceAll(',', '\t').replaceAll('\n', '\t\r\n')}`,
    ],
    ['UTF-16', (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le')],
    ['names of columns in capitals', (text: string) => text.replace(/^.*/, (l) => l.toUpperCase())],
    ['CR, and rows without a field', (text: string) => `${text},,,,,,\n,\n`.replaceAll('\n', '\r')],
  ])('a relation file as a spreadsheet exports it is read: %s', async (_, change) => {
    const { rows, bad, lines } = await read(change(csv))
    expect(rows.map((row) => row.slice(2))).toEqual(['a>b TWITTER', 'b>c MEDIUM'])
    expect(bad.count).toBe(0)
    expect(lines.rows + lines.headings + lines.empty).toBe(lines.read)
  })

  test.each([
    ['[{"user_id":"a","target_user_id":"b"}]', 'is JSON. Give'],
    ['<follows/>', 'is XML'],
    ['PK\u0003\u0004', 'is a ZIP archive'],
  ])('a relation file of another format is refused as what it is: %j', async (content, message) => {
    await expect(open(content)).rejects.toThrow(message)
  })

  test('an empty relation file has no rows', async () => {
    expect(await read('')).toMatchObject({ rows: [], bad: { count: 0 } })
  })

  test('invalid lines of a relation file are reported, and reading continues', async () => {
    const { rows, bad } = await read(`${csv}a,b\na,a,,,,,\n${'x'.repeat(5_000)}\nc,d,,,,,\n`)
    expect(rows).toHaveLength(3)
    expect(bad).toEqual({
      count: 3,
      first: [
        { line: 5, problem: 'has 2 fields, the header 7' },
        { line: 6, problem: '"a" would follow itself' },
        { line: 7, problem: 'is longer than 4096 characters' },
      ],
    })
    const objects = await read(`{"user_id":"a","target_user_id":"b"}\nnonsense\n[]\n`)
    expect(objects.bad.first.map(({ problem }) => problem)).toEqual(
      Array(2).fill('is no JSON object'),
    )
  })

  test('a number that has lost digits in JSON is no name, and other numbers are', async () => {
    const lines = ['10223456789012345', '1.5', '7', '"10223456789012345"'].map(
      (id) => `{"user_id":${id},"target_user_id":"b","twitter_followed_at":1500000000000}`,
    )
    const { rows, bad } = await read(lines.join('\n'))
    expect(rows).toEqual(['3 7>b TWITTER', '4 10223456789012345>b TWITTER'])
    expect(bad.first).toEqual([
      { line: 1, problem: 'user_id: 10223456789012344 may have lost digits: write it in quotes' },
      { line: 2, problem: 'user_id: 1.5 may have lost digits: write it in quotes' },
    ])
  })

  test('the first invalid lines are kept and all are counted, afresh on each read', async () => {
    const file = await open(`${relationColumns.join(',')}\n${'a,a,,,,,\n'.repeat(50)}`)
    for (let walk = 0; walk < 2; walk++) {
      for await (const _ of file.rows(nowMs)) expect.unreachable()
      expect(file.findings.bad.count).toBe(50)
      expect(file.findings.bad.first).toHaveLength(badLinesKept)
    }
  })

  test.each([
    ['a,b\n', /line 1 is not a header: the column user_id is missing$/],
    ['\nuser_id,since\n', /line 2 is not a header: the column target_user_id is missing$/],
    [
      'user_id,target_user_id,since\n',
      /line 1 "since" is not a known column. Known columns: user_id, /,
    ],
    ['"","user_id","target_user_id"\n', /line 1 "" is not a known column/],
    ['user_id,target_user_id,user_id\n', /line 1 names the column user_id twice$/],
  ])('a relation file with the header %j is refused', async (content, message) => {
    await expect(open(content)).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      message: expect.stringMatching(message),
    })
  })
})
