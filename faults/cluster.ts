import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Document, MongoClient } from 'mongodb'
import { freePort } from '../packages/mongod/process.ts'
import type { Cleanup } from './cleanup.ts'
import type { Disk } from './disk.ts'
import { MemberProxy } from './proxy.ts'

export const memberCount = 3
const replicaSet = 'faults'
/** Only ends a run that hangs: a busy machine may elect a primary late. */
const readyTimeoutMs = 300_000
/** How long the members wait for a lost primary before an election, in milliseconds. */
export const electionMs = 3_000

/** A member of the replica set. Its process changes with each restart. */
interface Member {
  readonly index: number
  /** The port of its mongod. Only the harness uses it: all others connect to the proxy. */
  readonly port: number
  readonly proxy: MemberProxy
  child: ChildProcess | undefined
}

/**
 * A replica set of three members on 127.0.0.1. All connections of clients and members pass a proxy.
 */
export class Cluster {
  private readonly members: Member[] = []
  private isClosed = false

  private constructor(
    private readonly binary: string,
    private readonly disk: Disk,
  ) {}

  /**
   * Starts the members and waits for a primary. @throws Error if there is no primary within a
   * minute.
   */
  static async start(binary: string, disk: Disk, cleanup: Cleanup): Promise<Cluster> {
    const cluster = new Cluster(binary, disk)
    cleanup.add(() => cluster.close())
    for (let index = 0; index < memberCount; index++) await cluster.addMember(index)
    await Promise.all(cluster.members.map(({ index }) => cluster.startMember(index)))
    await cluster.initiateReplicaSet()
    await cluster.waitForPrimary()
    return cluster
  }

  /** The connection string of the proxies. */
  get uri(): string {
    const hosts = this.members.map(({ proxy }) => `127.0.0.1:${proxy.port}`)
    return `mongodb://${hosts.join(',')}/?replicaSet=${replicaSet}`
  }

  /** The process id of each running member, by index. */
  get pids(): ReadonlyMap<number, number> {
    return new Map(
      this.members.flatMap(({ index, child }) => (child?.pid ? [[index, child.pid]] : [])),
    )
  }

  /** Starts a member's mongod and waits until it answers. Does nothing if the member is running. */
  async startMember(index: number): Promise<void> {
    const member = this.member(index)
    if (member.child || this.isClosed) return
    const [command, args] = this.disk.wrapCommand(this.binary, this.mongodArguments(member))
    const child = spawn(command, args, { detached: true, stdio: 'ignore' })
    child.once('exit', () => {
      if (member.child === child) member.child = undefined
    })
    member.child = child
    await waitUntil(`member ${index} answers`, readyTimeoutMs, async () => {
      if (!member.child) throw new Error(`the mongod of member ${index} ended`)
      return (await this.runAdminCommand(index, { ping: 1 })) !== undefined
    })
  }

  /** Sends a signal to a member's mongod. After SIGKILL it waits until the process has ended. */
  async signalMember(index: number, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    const { child } = this.member(index)
    if (!child) return
    const ended = signal === 'SIGKILL' ? once(child, 'exit') : undefined
    child.kill(signal)
    await ended
  }

  /** Whether a member's mongod is running. */
  isRunning(index: number): boolean {
    return this.member(index).child !== undefined
  }

  /**
   * Runs an admin command on a member. @returns undefined if the command fails or takes more than 2
   * s.
   */
  async runAdminCommand(index: number, command: Document): Promise<Document | undefined> {
    const timeouts = {
      connectTimeoutMS: 1_000,
      serverSelectionTimeoutMS: 1_000,
      socketTimeoutMS: 2_000,
    }
    const uri = `mongodb://127.0.0.1:${this.member(index).port}/`
    const client = new MongoClient(uri, { directConnection: true, ...timeouts })
    try {
      return await client.db('admin').command(command)
    } catch {
      return undefined
    } finally {
      await client.close()
    }
  }

  /**
   * Waits for a primary. @returns its index. @throws Error if there is no primary within a minute.
   */
  async waitForPrimary(): Promise<number> {
    let found: number | undefined
    await waitUntil('a primary', readyTimeoutMs, async () => {
      const answers = await Promise.all(
        this.members.map(({ index }) => this.runAdminCommand(index, { hello: 1 })),
      )
      found = answers.findIndex((answer) => answer?.isWritablePrimary === true)
      return found >= 0
    })
    return found ?? 0
  }

  /**
   * Cuts a member off from the other members, in both directions.
   * @param clients `with`: clients reach only this member. `without`: clients reach only the other
   * members. `both`: clients reach all members.
   */
  isolateMember(index: number, clients: 'with' | 'without' | 'both'): void {
    const cuts = new Set<string>()
    const cutOff = (side: number | 'client', other: number) =>
      cuts.add(`${side}>${other}`).add(`${other}>${side}`)
    for (const other of this.members.filter((member) => member.index !== index)) {
      cutOff(index, other.index)
      if (clients === 'with') cutOff('client', other.index)
    }
    if (clients === 'without') cutOff('client', index)
    for (const { proxy } of this.members) proxy.setCuts(cuts)
  }

  /**
   * Restores all connections, resumes and restarts all members, and waits for a primary and two
   * secondaries.
   */
  async heal(): Promise<void> {
    for (const { proxy } of this.members) proxy.setCuts(new Set())
    for (const { index } of this.members) {
      await this.signalMember(index, 'SIGCONT')
      await this.disk.empty?.(index)
    }
    await Promise.all(this.members.map(({ index }) => this.startMember(index)))
    await waitUntil('a primary and two secondaries', readyTimeoutMs, async () => {
      const answers = await Promise.all(
        this.members.map(({ index }) => this.runAdminCommand(index, { hello: 1 })),
      )
      return (
        answers.filter((answer) => answer?.isWritablePrimary === true).length === 1 &&
        answers.filter((answer) => answer?.secondary === true).length === memberCount - 1
      )
    })
  }

  /** Kills all members, waits until they have ended, and closes all proxies. */
  private async close(): Promise<void> {
    this.isClosed = true
    await Promise.all(this.members.map(({ index }) => this.signalMember(index, 'SIGKILL')))
    for (const { proxy } of this.members) proxy.close()
  }

  private member(index: number): Member {
    const member = this.members[index]
    if (!member) throw new Error(`there is no member ${index}`)
    return member
  }

  private async addMember(index: number): Promise<void> {
    const port = await freePort()
    const proxy = await MemberProxy.listen({ member: index, port }, () => this.pids)
    this.members.push({ index, port, proxy, child: undefined })
  }

  private mongodArguments({ index, port }: Member): readonly string[] {
    const folder = this.disk.folderOf(index)
    return [
      ['--dbpath', folder, '--logpath', `${folder}/mongod.log`, '--port', String(port)],
      ['--bind_ip', '127.0.0.1', '--nounixsocket', '--replSet', replicaSet, '--quiet'],
      ['--wiredTigerCacheSizeGB', '0.25', '--oplogSize', '128'],
      ['--setParameter', 'enableTestCommands=1'],
      ['--setParameter', 'transactionLifetimeLimitSeconds=5'],
      ['--setParameter', 'diagnosticDataCollectionEnabled=false'],
    ].flat()
  }

  private async initiateReplicaSet(): Promise<void> {
    const members = this.members.map(({ index, proxy }) => ({
      _id: index,
      host: `127.0.0.1:${proxy.port}`,
    }))
    const settings = {
      electionTimeoutMillis: electionMs,
      heartbeatIntervalMillis: 500,
      heartbeatTimeoutSecs: 2,
    }
    const config = { _id: replicaSet, members, settings }
    const answer = await this.runAdminCommand(0, { replSetInitiate: config })
    if (!answer) throw new Error('the replica set could not be initiated')
  }
}

/**
 * Checks a condition every 100 ms until it is true. @throws Error with the name of the condition
 * after `timeoutMs`.
 */
export async function waitUntil(
  name: string,
  timeoutMs: number,
  condition: () => Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`${name}: not within ${timeoutMs / 1000} s`)
    await sleep(100)
  }
}
