import type { Handle } from '../../src/lib/ids.ts'
import { type Deletion, deleteAccounts, type PartProgress, prepareAccounts } from './accounts.ts'
import { ApiClient } from './client.ts'
import { Journal } from './journal.ts'
import { runLoad } from './load.ts'
import type { World } from './operations.ts'
import { forEach, PatientClient, RequestFailure } from './patient.ts'
import { numberedHandle, People } from './people.ts'
import { type DriveSettings, plannedArrivals, planSteps } from './plan.ts'
import { Poller, Pollers } from './poller.ts'
import { type DriveResult, summarizeLoad } from './result.ts'
import { verifyRun } from './verification.ts'

/** What a run and its clean-up need. */
export interface DriveParts {
  readonly urls: readonly URL[]
  readonly prefix: string
  /** Whether the deployment may be one of production. */
  readonly mayWriteToProduction: boolean
  /** The value of the header Authorization of a user. */
  readonly authorize: (handle: Handle) => Promise<string>
  /** The version of this release. */
  readonly version: string
  readonly log: (line: string) => void
  readonly onProgress: PartProgress
  /** Ends the run. What was measured is returned. */
  readonly signal: AbortSignal
}

/** The most requests of the load that are open at once. */
const outstandingMax = 1_000
/** How long deliveries may take before feeds are compared, in seconds. */
const settleSeconds = 60
/** The most users whose polls are simulated, and the stream of random numbers that selects them. */
const [pollersMax, pollerStream] = [500, 103]

/**
 * Opens a client of a deployment that a run may use. Tokens are signed once for each user.
 * @throws {Error} if a process does not answer or refuses the tokens, or if it is one of production
 *   and the operator has not agreed to writes.
 */
export async function openClient(parts: DriveParts): Promise<ApiClient> {
  const signed = new Map<number, Promise<string>>()
  const client = await ApiClient.open(parts.urls, (user) => {
    const token = signed.get(user) ?? parts.authorize(numberedHandle(parts.prefix, user))
    signed.set(user, token)
    return token
  })
  try {
    await checkDeployment(client, parts)
    await checkTokens(patientOf(client, parts))
  } catch (error) {
    client[Symbol.dispose]()
    throw error
  }
  return client
}

/** Only servers of production refuse introspection. */
async function checkDeployment(client: ApiClient, parts: DriveParts): Promise<void> {
  for (const url of parts.urls) {
    const { code, message } = await client.askPlainly('{ __schema { queryType { name } } }')
    if (['CONNECTION', 'TIMEOUT'].includes(code)) {
      throw new Error(`${url.href} does not answer${message ? `: ${message}` : ''}`)
    }
    if (code !== 'OK' && !parts.mayWriteToProduction) {
      throw new Error(
        `${url.href} seems to be a deployment in production. --yes-write lets the run write to it`,
      )
    }
  }
}

async function checkTokens(client: PatientClient): Promise<void> {
  try {
    await client.request({ document: 'Viewer', variables: {}, as: 0 })
  } catch (error) {
    if (!(error instanceof RequestFailure) || error.code !== 'UNAUTHENTICATED') throw error
    throw new Error(
      'The deployment refuses the tokens of the run. Set AUTH_JWT_SECRET, AUTH_ISSUER and AUTH_AUDIENCE as it does',
    )
  }
}

/**
 * Prepares the accounts, runs the load, and verifies a sample. A signal ends it early: what was
 * measured until then is returned.
 * @throws {Error} if the preparation fails or is interrupted.
 */
export async function runDrive(
  client: ApiClient,
  settings: DriveSettings,
  parts: DriveParts,
): Promise<DriveResult> {
  const { seed, mix, arrivals: spacing, rate, step, warmup, untilP99 } = settings
  const { onProgress, signal } = parts
  const startedAt = new Date().toISOString()
  const world = createWorld(settings)
  const patient = patientOf(client, parts)
  await prepareAccounts(world, patient, settings, onProgress)
  await loadFirstPages(world, patient, onProgress)
  const steps = planSteps(rate, step, warmup)
  const total = plannedArrivals(steps)
  const outcome = await runLoad({
    plan: { steps, spacing, mix, users: world.people.count, seed },
    world,
    ask: client.ask,
    outstandingMax,
    untilP99Ms: untilP99,
    signal,
    onProgress: (arrivals) => onProgress('requests', arrivals, Math.max(total, arrivals)),
  })
  return {
    settings,
    versions: { feedline: parts.version, node: process.version },
    startedAt,
    ...summarizeLoad(outcome),
    acknowledged: world.journal.acknowledged,
    ...(await verifyUnlessInterrupted(world, patient, settings, parts)),
  }
}

/** Deletes the accounts that runs created. @param expected how many numbers may have one. */
export function runClean(
  client: ApiClient,
  expected: number,
  parts: DriveParts,
): Promise<Deletion> {
  // After an interrupted run, a second signal ends the process.
  const signal = parts.signal.aborted ? new AbortController().signal : parts.signal
  return deleteAccounts(patientOf(client, { ...parts, signal }), expected, parts.onProgress)
}

const patientOf = (client: ApiClient, { urls, log, signal }: DriveParts): PatientClient =>
  new PatientClient(client.ask, urls.length, log, signal)

function createWorld({ prefix, users, seed, mix }: DriveSettings): World {
  const handles = Array.from({ length: users }, (_, user) => numberedHandle(prefix, user))
  const people = new People(handles, seed)
  const polling = mix.poll > 0 ? people.sampleUsers(pollersMax, pollerStream) : []
  const pollers = new Pollers(polling.map((user) => new Poller(user)))
  return { people, journal: new Journal(), pollers, runId: `${seed}-${Date.now().toString(36)}` }
}

/** The pollers load their first pages, whose posts are remembered for likes. */
async function loadFirstPages(
  { pollers, journal }: World,
  client: PatientClient,
  onProgress: PartProgress,
): Promise<void> {
  let done = 0
  await forEach(pollers.all, async (poller) => {
    await poller.load(client.request.bind(client))
    journal.see(poller.held.slice(0, 1))
    onProgress('first pages', ++done, pollers.all.length)
  })
}

async function verifyUnlessInterrupted(
  world: World,
  client: PatientClient,
  { sample }: DriveSettings,
  { urls, signal, onProgress }: DriveParts,
): Promise<Pick<DriveResult, 'verification' | 'unverified'>> {
  try {
    signal.throwIfAborted()
    const asked = { world, client, processes: urls.length, sample, settleSeconds }
    const compared = (done: number, total: number) => onProgress('verification', done, total)
    return { verification: await verifyRun({ ...asked, onProgress: compared }) }
  } catch (error) {
    if (signal.aborted) return { unverified: 'the run was interrupted' }
    if (!(error instanceof RequestFailure)) throw error
    return { unverified: error.message }
  }
}
