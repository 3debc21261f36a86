import { type Document, type MongoClient, MongoError, MongoServerError } from 'mongodb'
import { bugOf } from '../lib/bug.ts'
import { shown } from '../lib/shown.ts'

/**
 * Why MONGODB_URI cannot be used: `message` is one sentence, with the next step and without
 * credentials.
 */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError'
}

/** The oldest supported MongoDB, 6.0, by the version of its protocol. */
const wireVersionMin = 17
const releases: Readonly<Record<number, string>> = {
  ...{ 6: '3.6', 7: '4.0', 8: '4.2', 9: '4.4', 13: '5.0' },
}

const unauthorizedCodes: ReadonlySet<unknown> = new Set([13, 8000])
/** Whether the user of the connection may not do what it asked for. */
const isUnauthorized = (error: unknown): boolean =>
  error instanceof MongoServerError && unauthorizedCodes.has(error.code)
const authenticationFailedCode = 18
const differsByCaseCode = 13_297

/** Explains to the operator who set MONGODB_URI why its database cannot be used. */
export class UriCheck {
  private client: MongoClient | undefined
  /** What each host last answered to `hello`, or why it did not. */
  private readonly hosts = new Map<string, Document | Error>()

  constructor(
    private readonly uri: string,
    private readonly database: string,
  ) {}

  /** Watches a client while it connects: see `connect`. */
  readonly listen = (client: MongoClient): void => {
    this.client = client
    client.on('serverHeartbeatSucceeded', ({ connectionId, reply }) => {
      this.hosts.set(connectionId.replace(/<monitor>$/, ''), reply)
    })
    client.on('serverHeartbeatFailed', ({ connectionId, failure }) => {
      this.hosts.set(connectionId.replace(/<monitor>$/, ''), failure)
    })
  }

  /**
   * Checks that a client reached a server that can run transactions. One command.
   * @throws {UnreachableError}
   */
  async checkServer(client: MongoClient): Promise<void> {
    const hello = await client.db('admin').command({ hello: 1 })
    const [host = ''] = client.options.hosts.map((one) => `${one}`)
    const reason = this.ofAnswer(host, hello)
    if (reason) throw this.error(reason)
  }

  /**
   * The error of a client that did not connect. An error of neither the driver nor the system is
   * returned unchanged, and so is a bug that the driver met: what the hosts answered does not
   * explain them.
   */
  unreachable(cause: unknown): unknown {
    for (const error of [cause, ...this.hosts.values()]) {
      const bug = error === cause || error instanceof Error ? bugOf(error) : undefined
      if (bug) return bug.thrown
    }
    if (!(cause instanceof MongoError || rootOf(cause).code)) return cause
    const denied = this.ofRefusal(cause)
    if (denied) return this.error(denied, cause)
    const hosts = [...this.hosts].map(([host, answer]) =>
      answer instanceof Error
        ? this.ofFailure(host, answer)
        : (this.ofAnswer(host, answer) ?? `${host} is found, but no primary`),
    )
    const reasons = hosts.length > 0 ? hosts : [this.ofFailure('', cause)]
    return this.error([...new Set(reasons)].join(', and '), cause)
  }

  /**
   * The error of a command during the start. Other errors than refusals of MongoDB are returned
   * unchanged.
   */
  explained(error: unknown): unknown {
    const reason = this.ofRefusal(error)
    return reason ? this.error(reason, error) : error
  }

  private error(reason: string, cause?: unknown): UnreachableError {
    const message = `MONGODB_URI: ${shown(this.uri)} cannot be used: ${reason}.`
    return new UnreachableError(message, { cause })
  }

  private ofRefusal(error: unknown): string | undefined {
    if (!(error instanceof MongoServerError)) return undefined
    const { username: user, source } = this.client?.options.credentials ?? {}
    if (error.code === authenticationFailedCode) {
      return `MongoDB knows no user ${shown(user ?? '')} with this password in the database ${shown(source ?? '')}; correct them, or name the database of the user with authSource=NAME`
    }
    if (error.code === differsByCaseCode) {
      const [, stored = ''] = /already have: \[([^\]]*)/.exec(error.message) ?? []
      return `it has the database ${shown(stored)}, which differs from ${shown(this.database)} by case alone; set MONGODB_DATABASE=${stored}, or to another name`
    }
    if (!isUnauthorized(error)) return undefined
    return user
      ? `the user ${shown(user)} may not use the database ${shown(this.database)} as Feedline does; grant the user its role readWrite`
      : 'MongoDB asks for a user; write mongodb://USER:PASSWORD@HOST/?authSource=admin'
  }

  /** Why a server that answered cannot be used. Undefined if it can. */
  private ofAnswer(host: string, hello: Document): string | undefined {
    const { setName, isreplicaset, msg, maxWireVersion } = hello
    if (maxWireVersion < wireVersionMin) return tooOld(host, maxWireVersion)
    if (msg === 'isdbgrid') return undefined
    if (isreplicaset) {
      return `the replica set of ${host} is not initiated; run rs.initiate() in mongosh`
    }
    if (!setName) {
      return `${host} is a mongod without a replica set, which transactions need; start it with --replSet NAME and run rs.initiate() in mongosh`
    }
    const named = this.client?.options.replicaSet
    if (named && named !== setName) {
      return `${host} is a member of the replica set ${shown(setName)}, not of ${shown(named)}; write replicaSet=${setName}`
    }
    return hello.isWritablePrimary
      ? undefined
      : `${host} is not the primary; name all members of the replica set, and see rs.status() in mongosh`
  }

  private ofFailure(host: string, error: unknown): string {
    const { code, path, message, reason } = rootOf(error)
    const tls = this.client?.options.tls === true
    const [, wireVersion] = /maximum wire version (\d+)/.exec(message) ?? []
    if (wireVersion) return tooOld(host, Number(wireVersion))
    if (path && /^E(NOENT|ACCES|ISDIR)$/.test(code)) {
      return `the file ${shown(path)} of its TLS options cannot be read (${code}); correct the path`
    }
    if (/^querySrv|^queryTxt/.test(message)) {
      return `its host has no SRV record for MongoDB (${code}); correct the name, or write mongodb:// with all hosts`
    }
    if (/^(ENOTFOUND|EAI_)/.test(code)) {
      return `the name of the host ${host} is unknown (${code}); correct it`
    }
    if (code === 'ECONNREFUSED') {
      return `nothing listens on ${host}; start mongod there, or correct host and port`
    }
    if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
      return `the certificate of ${host} is for another host name (${reason ?? message}); write the name of the certificate`
    }
    if (/CERT|SIGNATURE|ISSUER/.test(code)) {
      return `the certificate of ${host} is not trusted (${message}); add tlsCAFile=PATH with the certificate of its authority`
    }
    if (tls && /before secure TLS|wrong version number|packet length too long/.test(message)) {
      return `${host} does not speak TLS; remove tls=true`
    }
    if (/timed out|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/.test(`${code} ${message}`)) {
      return `${host} does not answer in time; correct host and port, or check the network and its firewall`
    }
    if (/message size|BSON|corrupt/i.test(message)) {
      return `${host} does not speak MongoDB's protocol; correct the port`
    }
    if (
      /closed|ECONNRESET|socket hang up|certificate required|handshake failure/.test(
        `${code} ${message}`,
      )
    ) {
      return tls
        ? `${host} closes the connection, as one that asks for a certificate of this client; add tlsCertificateKeyFile=PATH, or see its log`
        : `${host} closes a connection without TLS; add tls=true, or correct the port`
    }
    return `${host ? `${host} fails: ` : ''}${message.replace(/\.$/, '')}`
  }
}

const tooOld = (host: string, wireVersion: number): string =>
  `${host} is MongoDB ${releases[wireVersion] ?? `of protocol ${wireVersion}`}; upgrade it to 6.0 or newer`

interface Failure {
  readonly code: string
  readonly path?: string
  readonly message: string
  readonly reason?: string
}

/** The error of the system below the errors of the driver. */
function rootOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { code: '', message: String(error) }
  const { code, cause } = error as NodeJS.ErrnoException
  if (typeof code !== 'string' && cause instanceof Error) return rootOf(cause)
  return { ...(error as unknown as Failure), message: error.message, code: `${code ?? ''}` }
}
