import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { negotiate } from '@fastify/accept-negotiator'

/** The examples, one folder for each app. */
export const examplesFolder = join(import.meta.dirname, '../examples')

export interface SiteOptions {
  /** The folder of the example, such as `apollo`. `npm run build` has been run in it. */
  readonly example: string
  /** The URL of GraphQL for pages of the site. */
  readonly serverUrl: string
  /** Seconds between two polls. */
  readonly pollSeconds: number
  /**
   * The account whose followees are shown to viewers without suggestions. Default: that of the
   * page.
   */
  readonly guide?: string
  /** The address of the module that signs viewers in. Default: that of the page. */
  readonly signIn?: string
  /** 0: any free port. */
  readonly port: number
}

/** A server of files. */
export interface Site extends AsyncDisposable {
  /** `http://localhost:…`, without a slash at the end. */
  readonly url: string
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
}

/**
 * What a page may load: its own files, answers of its server, and the pictures and videos of users.
 */
const policyOf = (serverUrl: string): string =>
  [
    "default-src 'self'",
    `connect-src 'self' ${new URL(serverUrl).origin}`,
    'img-src http: https: data:',
    'media-src http: https:',
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/**
 * The addresses of the apps. Other paths get the app too, which says that there is no such page,
 * with status 404.
 */
const addresses =
  /^\/(?:(?:groups\/[^/]+|users\/[^/]+(?:\/followers|\/following)?|posts\/[^/]+(?:\/likes)?|edit)\/?)?$/

/** A file, and its forms. */
interface File {
  readonly type: string
  readonly cacheControl: string
  readonly bodies: Readonly<Record<string, Buffer>>
}

/** Serves a built example on localhost, compressed, with these settings. */
export async function serveExample(options: SiteOptions): Promise<Site> {
  const folder = join(examplesFolder, options.example, 'dist')
  const settings = {
    'feedline-server': options.serverUrl,
    'feedline-poll-seconds': String(options.pollSeconds),
    ...(options.guide ? { 'feedline-guide': options.guide } : {}),
    ...(options.signIn ? { 'feedline-sign-in': options.signIn } : {}),
  }
  const page = withSettings(await readFile(join(folder, 'index.html'), 'utf8'), settings)
  const app = await fileOf('.html', Buffer.from(page), 'no-cache')
  const assets = new Map<string, File>()
  for (const name of await readdir(join(folder, 'assets'))) {
    const content = await readFile(join(folder, 'assets', name))
    const cacheControl = 'public, max-age=31536000, immutable'
    assets.set(`/assets/${name}`, await fileOf(extname(name), content, cacheControl))
  }
  const policy = policyOf(options.serverUrl)
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const file = assets.get(pathname) ?? app
    const accepted = negotiate(request.headers['accept-encoding'] ?? '', ['br', 'gzip'])
    const encoding = accepted ?? 'identity'
    if (file === app && !addresses.test(pathname)) response.statusCode = 404
    if (encoding !== 'identity') response.setHeader('content-encoding', encoding)
    response.setHeader('vary', 'accept-encoding')
    response.setHeader('cache-control', file.cacheControl)
    response.setHeader('content-type', file.type)
    response.setHeader('content-security-policy', policy)
    response.setHeader('x-content-type-options', 'nosniff')
    response.end(file.bodies[encoding])
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port, 'localhost', resolve)
  })
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function fileOf(extension: string, identity: Buffer, cacheControl: string): Promise<File> {
  const [br, gzipped] = await Promise.all([
    promisify(brotliCompress)(identity, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
    promisify(gzip)(identity),
  ])
  const type = types[extension] ?? 'application/octet-stream'
  return { type, cacheControl, bodies: { br, gzip: gzipped, identity } }
}

const withSettings = (page: string, settings: Readonly<Record<string, string>>): string =>
  Object.entries(settings).reduce(
    (text, [name, value]) =>
      text.replace(new RegExp(`(<meta name="${name}" content=")[^"]*`), `$1${value}`),
    page,
  )
