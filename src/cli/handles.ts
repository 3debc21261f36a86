import { Command } from 'commander'
import { configFor } from '../environment.ts'
import { type Handle, handleRule, parseHandle, parseUserId, type UserId } from '../lib/ids.ts'
import { decodeOpaque } from '../lib/opaque.ts'
import type { Services } from '../services.ts'
import type { HandleChange, HandleDesk, HandleState } from '../users/handle-desk.ts'
import { openForCommand } from './database.ts'

interface ChangeOptions {
  readonly dryRun?: true
  readonly renameTo?: string
  readonly json?: true
}

/** `feedline handles`: shows who has a handle, frees it, and moves it to another account. */
export const handlesCommand = (): Command =>
  new Command('handles')
    .description('Show who has a handle, free it, or move it to another account.')
    .addHelpText('after', help)
    .addCommand(
      new Command('show')
        .description('Show the account that has or keeps a handle.')
        .argument('<handle>', 'the handle')
        .option('--json', 'print one JSON object: handle, isReserved, holder')
        .action(async (text: string, { json }: ChangeOptions) => {
          await using database = await openForCommand(configFor('database'), false)
          const state = await database.services.handleDesk.show(handleOf(text))
          console.log(json ? JSON.stringify(state) : sentenceOf(state))
        }),
    )
    .addCommand(
      changing('free', 'Free a handle that an account keeps after a rename.')
        .argument('<handle>', 'the former handle')
        .action((text: string, options: ChangeOptions) =>
          change('free', options, ({ handleDesk }, dryRun) =>
            handleDesk.free(handleOf(text), dryRun),
          ),
        ),
    )
    .addCommand(
      changing('move', 'Give a handle, also a reserved one, to an account.')
        .argument('<handle>', 'the handle')
        .argument('<user>', 'the account that gets it: its handle, account id or global id')
        .option('--rename-to <handle>', 'the new handle of the account that has the handle now')
        .action((text: string, user: string, options: ChangeOptions) =>
          change('move', options, async (services, dryRun) => {
            const { renameTo } = options
            const to = await accountOf(services, user)
            return services.handleDesk.move(handleOf(text), to, {
              renameTo: renameTo === undefined ? undefined : handleOf(renameTo),
              dryRun,
            })
          }),
        ),
    )

const help = `
The account that gets a handle keeps its handle before for HANDLE_RESERVED_DAYS. The present handle
of an account is moved only with --rename-to. The last line of the output is for your audit log.

Examples:
  $ feedline handles show ann
  $ feedline handles free ann --dry-run
  $ feedline handles move ann VluvbKMVL44 --rename-to ann-2019`

const changing = (name: string, description: string): Command =>
  new Command(name)
    .description(description)
    .option('--dry-run', 'print what would change, and change nothing')
    .option('--json', 'print one JSON object: at, action, dryRun, changed, before, after, renamed')

async function change(
  action: string,
  { json, ...how }: ChangeOptions,
  run: (services: Services, dryRun: boolean) => ReturnType<HandleDesk['free']>,
): Promise<void> {
  const dryRun = how.dryRun === true
  await using database = await openForCommand(configFor('database'), false)
  const done = await run(database.services, dryRun)
  const at = new Date(database.clock.now()).toISOString()
  if (json) console.log(JSON.stringify({ at, action, dryRun, ...done }))
  else console.log([sentenceOf(done.before), auditOf(at, action, dryRun, done)].join('\n'))
}

/** @throws {Error} for what is no handle. */
function handleOf(text: string): Handle {
  const handle = parseHandle(text.replace(/^@/, '').toLowerCase())
  if (handle === undefined) throw new Error(`"${text}" is not a handle: ${handleRule}`)
  return handle
}

/** @throws {Error} for what names no account. */
async function accountOf({ handles }: Services, text: string): Promise<UserId> {
  const { tag, parts } = decodeOpaque(text) ?? { tag: '', parts: [] }
  const handle = parseHandle(text.replace(/^@/, ''))
  const holder = handle && (await handles.findHolders([handle])).get(handle)
  const account = holder ?? parseUserId(tag === 'User' ? (parts[0] ?? '') : text)
  if (account === undefined) throw new Error(`"${text}" names no account`)
  return account
}

function sentenceOf({ handle, isReserved, holder }: HandleState): string {
  const reserved = isReserved ? ' It is reserved.' : ''
  if (!holder) return `No account has or keeps "${handle}".${reserved}`
  const { account, until, isDeleted } = holder
  if (isDeleted)
    return `The deleted account ${account} had "${handle}" and is being removed.${reserved}`
  if (until === null) return `The account ${account} has "${handle}".${reserved}`
  return `The account ${account}, now "${holder.handle}", keeps "${handle}" until ${until.toISOString()}.${reserved}`
}

function auditOf(
  at: string,
  action: string,
  dryRun: boolean,
  { changed, before: { handle, holder }, after, renamed }: HandleChange,
): string {
  if (!changed) return `${at} ${action} "${handle}": nothing to change`
  const renames = renamed.map(({ account, from, to, keptUntil }) => {
    const kept = keptUntil ? `, keeps "${from}" until ${keptUntil.toISOString()}` : ''
    return `; account ${account} from "${from}" to "${to}"${kept}`
  })
  const [from, to] = [holder?.account ?? 'no account', after.holder?.account ?? 'no account']
  const would = dryRun ? ' (dry run)' : ''
  return `${at} ${action} "${handle}"${would}: from ${from} to ${to}${renames.join('')}`
}
