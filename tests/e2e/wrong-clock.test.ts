import { pino } from 'pino'
import { afterEach, expect, test, vi } from 'vitest'
import { startApp } from '../../src/app.ts'
import { readConfig } from '../../src/environment.ts'
import { timeOf } from '../../src/lib/ids.ts'
import { useDatabase } from '../support/mongo.ts'
import { handle, namesOf } from '../support/services.ts'

const database = useDatabase()
const wall = Date.now.bind(Date)
afterEach(() => {
  vi.restoreAllMocks()
})

test('with a host clock an hour ahead, ids get the database’s time, and the server logs a warning', async () => {
  const logged: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) })
  vi.spyOn(Date, 'now').mockImplementation(() => wall() + 3_600_000)
  const config = readConfig({
    NODE_ENV: 'test',
    PORT: '0',
    MONGODB_URI: database.uri,
    MONGODB_DATABASE: database.name,
  })
  await using app = await startApp(config, log)
  const ann = handle('ann')
  const { createdAt } = await app.services.users.create(ann, { ...namesOf(ann), name: 'Ann' })
  const { id } = await app.services.posts.create(ann, { text: 'now' })
  const { localTime } = await database.db.command({ hello: 1 })
  for (const made of [createdAt, timeOf(id)]) {
    expect(Math.abs(made.getTime() - localTime.getTime())).toBeLessThan(10_000)
  }
  expect(logged.join()).toContain('The clock of this host is 3600')
  const metrics = await (await fetch(`${app.adminUrl}/metrics`)).text()
  expect(Number(/^feedline_clock_skew_seconds (\S+)$/m.exec(metrics)?.[1])).toBeCloseTo(3600, 0)
})
