import { raiseTimelines } from '../db/versions.ts'
import { type Registered, writersIn } from '../feed/registry/registry.ts'
import type { MaterialisedName } from '../feed/strategies/list.ts'
import { chunks } from '../lib/batch.ts'
import type { UserId } from '../lib/ids.ts'
import { failureOf } from './inspect.ts'
import type { Finding, IntegrityServices } from './invariant.ts'
import {
  checkEntries,
  removeLeftovers,
  strangersLeft,
  strayTimelines,
} from './invariants/timeline-entries.ts'
import { compareReader, rebuildReader, timelinesId } from './invariants/timelines.ts'

/** The readers whose timelines are checked: a number of random readers, all readers, or a list of handles. */
export type Readers = number | 'all' | readonly string[]

/** The most readers that one command loads, and that are checked concurrently. */
const [readersAtOnce, readersTogether] = [1_000, 4]

/** The result of checking some readers. */
export interface ReadersVerdict {
  readonly findings: readonly Finding[]
  /** The findings that are still there after the repair. */
  readonly left: readonly Finding[]
  readonly inFlight: number
  readonly readers: number
  readonly timelines: number
  /** The number of stored entries that were read. */
  readonly entries: number
  /** The last checked reader, in the order of handles. */
  readonly upTo: string
}

/**
 * Checks stored timelines (law L1), a few readers at a time. With `repair`, removes leftovers and rebuilds timelines
 * that differ from FANOUT_ON_READ. With all readers, also finds timelines of handles without an account.
 * @param after skips readers up to this handle.
 */
export async function* checkTimelines(
  services: IntegrityServices,
  { readers, repair, after = '' }: { readers: Readers; repair: boolean; after?: string },
): AsyncGenerator<ReadersVerdict> {
  let from = after
  for await (const some of readersOf(services, readers, after)) {
    const registered = await services.registry.read()
    if (registered.size === 0) return
    const upTo = some.length < readersAtOnce ? '\uffff' : (some.at(-1) ?? '')
    // First, because a run that is interrupted among the readers goes on behind them.
    if (readers === 'all') yield await checkStrays(services, registered, { from, upTo }, repair)
    for (const few of chunks(await withAccount(services, some), readersTogether)) {
      const checked = few.map((reader) => checkReader(services, reader, registered, repair))
      const found = await Promise.all(checked)
      yield {
        findings: found.flatMap(({ findings }) => findings),
        left: found.flatMap(({ left }) => left),
        inFlight: found.reduce((sum, { inFlight }) => sum + inFlight, 0),
        readers: few.length,
        timelines: found.reduce((sum, { timelines }) => sum + timelines, 0),
        entries: found.reduce((sum, { entries }) => sum + entries, 0),
        upTo: few.at(-1) ?? '',
      }
    }
    from = upTo
  }
}

/** Checks for timelines of handles between two handles that have no account. With `repair`, removes them. */
async function checkStrays(
  services: IntegrityServices,
  registered: Registered,
  { from, upTo }: { readonly from: string; readonly upTo: string },
  repair: boolean,
): Promise<ReadersVerdict> {
  const [findings, left]: [Finding[], Finding[]] = [[], []]
  for (const { _id: name } of writersIn(registered)) {
    const strays = () => strayTimelines(services, name, from, upTo)
    for (const { reader, finding } of await strays()) {
      findings.push(finding)
      if (!repair) continue
      await services.strategies[name].deleteReader(reader)
      await raiseTimelines(services.collections, [reader])
    }
    if (repair && findings.length > 0) left.push(...(await strays()).map((one) => one.finding))
  }
  return { findings, left, inFlight: 0, readers: 0, timelines: 0, entries: 0, upTo: from }
}

/** Checks the timelines of a reader. With `repair`, repairs them and checks again what was found and harms. */
async function checkReader(
  services: IntegrityServices,
  reader: UserId,
  registered: Registered,
  repair: boolean,
) {
  const checked = await checkOnce(services, reader, registered, repair)
  if (!repair || checked.findings.length === 0) return { ...checked, left: [] }
  const again = await checkOnce(services, reader, registered, false)
  const isLeft = ({ harmless, kind, subject }: Finding) =>
    !harmless && checked.findings.some((one) => one.kind === kind && one.subject === subject)
  return { ...checked, left: again.findings.filter(isLeft) }
}

async function checkOnce(
  services: IntegrityServices,
  reader: UserId,
  registered: Registered,
  repair: boolean,
) {
  const findings: Finding[] = []
  const flawed: MaterialisedName[] = []
  let entries = 0
  const onRead = (more: number) => {
    entries += more
  }
  try {
    for (const registration of writersIn(registered)) {
      for await (const verdict of checkEntries(services, reader, registration, onRead)) {
        const { strangers } = verdict
        const isHandled = strangers.length > 0 && !repair
        if (isHandled && (await strangersLeft(services, reader, verdict)).length === 0) continue
        findings.push(verdict.finding)
        if (verdict.flawed) flawed.push(registration._id)
        if (repair) await removeLeftovers(services, reader, registration, verdict)
      }
      if (repair) await services.strategies[registration._id].floors?.trim([reader], registration)
    }
    const { lacking, wrong, ...compared } = await compareReader(services, reader, registered)
    if (repair && lacking.length + wrong.length + flawed.length > 0) {
      await rebuildReader(services, reader, lacking, [...wrong, ...flawed])
    }
    return { ...compared, findings: [...findings, ...compared.findings], entries }
  } catch (error) {
    const { subject: _, ...failure } = failureOf(timelinesId, error)
    findings.push({ ...failure, subject: reader })
    return { findings, entries, inFlight: 0, timelines: 0 }
  }
}

/** The handles that have an account. Others should have no timeline, even if they follow someone. One command. */
async function withAccount(
  { collections: { users } }: IntegrityServices,
  handles: readonly UserId[],
): Promise<UserId[]> {
  const filter = { _id: { $in: [...handles] } }
  const accounts = await users.find(filter, { projection: { _id: 1 } }).toArray()
  const known = new Set(accounts.map(({ _id }) => _id))
  return handles.filter((handle) => known.has(handle))
}

async function* readersOf(
  { collections: { user_stats } }: IntegrityServices,
  readers: Readers,
  from: string,
): AsyncGenerator<UserId[]> {
  if (readers === 0) return
  if (typeof readers === 'number') {
    const sample = user_stats.aggregate<{ _id: UserId }>([
      { $sample: { size: readers } },
      { $project: { _id: 1 } },
    ])
    yield (await sample.toArray()).flatMap(({ _id }) => (typeof _id === 'string' ? [_id] : []))
    return
  }
  if (readers !== 'all') {
    const left = [...new Set(readers)].sort().filter((handle) => handle > from)
    for (const some of chunks(left, readersAtOnce)) yield [...some] as UserId[]
    return
  }
  for (let after = from; ; ) {
    const found = await user_stats
      .find({ _id: { $gt: after } }, { projection: { _id: 1 } })
      .sort({ _id: 1 })
      .limit(readersAtOnce)
      .toArray()
    yield found.map(({ _id }) => _id as UserId)
    const last = found.at(-1)
    if (!last || found.length < readersAtOnce) return
    after = last._id
  }
}
