import { describe, expect, test } from 'vitest'
import { deleteAccounts, prepareAccounts } from '../../packages/drive/accounts.ts'
import type { Answer, ApiRequest, Ask } from '../../packages/drive/client.ts'
import { Journal } from '../../packages/drive/journal.ts'
import type { World } from '../../packages/drive/operations.ts'
import { PatientClient } from '../../packages/drive/patient.ts'
import { numberedHandle, People } from '../../packages/drive/people.ts'
import { Pollers } from '../../packages/drive/poller.ts'

/** Accounts by number. A request ends the run when `requestsLeft` reaches 0. */
class Deployment {
  readonly bios = new Map<number, string>()
  readonly interrupt = new AbortController()
  requestsLeft = Number.POSITIVE_INFINITY
  writes = 0

  readonly ask = (async (request: ApiRequest): Promise<Answer<unknown>> => {
    if (--this.requestsLeft === 0) this.interrupt.abort(new Error('interrupted'))
    return { code: 'OK', data: this.answer(request) }
  }) as Ask

  private answer({ document, as, variables }: ApiRequest): object {
    if (document === 'Viewer') {
      const bio = this.bios.get(as)
      return {
        viewer: { user: bio === undefined ? null : { bio, followingCount: 0, postCount: 0 } },
      }
    }
    this.writes++
    if (document === 'DeleteUser') this.bios.delete(as)
    else this.bios.set(as, (variables.input as { bio?: string }).bio ?? '')
    return {}
  }

  get client(): PatientClient {
    return new PatientClient(this.ask, 1, () => {}, this.interrupt.signal)
  }

  prepare(count: number): Promise<void> {
    const handles = Array.from({ length: count }, (_, at) => numberedHandle('drive', at))
    const people = new People(handles, 1)
    const world: World = { people, journal: new Journal(), pollers: new Pollers([]), runId: 'run' }
    const plan = { follows: 0, posts: 0 }
    return prepareAccounts(world, this.client, plan, () => {})
  }

  delete(expected = 0) {
    return deleteAccounts(this.client, expected, () => {})
  }
}

describe('the accounts of a run', () => {
  test('a run refuses an account that no run has created, and writes nothing', async () => {
    const deployment = new Deployment()
    deployment.bios.set(7, 'I am a person.')
    await expect(deployment.prepare(12)).rejects.toThrow(
      'No run has created drive-000008. Set another --prefix',
    )
    expect(deployment.writes).toBe(0)
  })

  test('a run uses the accounts of an earlier one and creates those that are missing', async () => {
    const deployment = new Deployment()
    await deployment.prepare(5)
    await deployment.prepare(9)
    expect([deployment.bios.size, deployment.writes]).toEqual([9, 9])
  })

  test('a clean-up deletes what runs created, and keeps the other accounts', async () => {
    const deployment = new Deployment()
    await deployment.prepare(150)
    deployment.bios.set(40, 'I am a person.')
    deployment.bios.set(180, '')
    expect(await deployment.delete()).toEqual({ deleted: 149, foreign: 2 })
    expect([...deployment.bios.keys()]).toEqual([40, 180])
  })

  test('a clean-up that was interrupted anywhere is finished by a repeat', async () => {
    for (let requests = 1; requests < 800; requests += 60) {
      const deployment = new Deployment()
      await deployment.prepare(330)
      const { client } = deployment
      deployment.requestsLeft = requests
      await deleteAccounts(client, 0, () => {}).catch(() => {})
      const repeat = new Deployment()
      for (const [user, bio] of deployment.bios) repeat.bios.set(user, bio)
      await repeat.delete()
      expect(repeat.bios.size, `after ${requests} requests`).toBe(0)
    }
  })

  test('a clean-up looks as far as the number of users it was given', async () => {
    const deployment = new Deployment()
    await deployment.prepare(450)
    for (let user = 0; user < 440; user++) deployment.bios.delete(user)
    expect(await deployment.delete(450)).toEqual({ deleted: 10, foreign: 0 })
  })
})
