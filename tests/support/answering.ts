import { readConfig } from '../../src/environment.ts'
import { createServer } from '../../src/graphql/server.ts'
import { Readiness } from '../../src/http/readiness.ts'
import { createLog } from '../../src/log.ts'
import type { Change } from '../../src/memory/followed.ts'
import type { Services } from '../../src/services.ts'
import type { Answer } from './app.ts'
import { keepMemory } from './memory.ts'

/** The server of one more process. It keeps memory. */
export interface AnsweringProcess {
  readonly services: Services
  /** `http://127.0.0.1:…`, without a slash at the end. */
  readonly url: string
  /** Sends a document as `subject`, or anonymously. */
  readonly send: (
    subject: string | undefined,
    query: string,
    variables?: object,
  ) => Promise<ProcessAnswer & Pick<Answer, 'errors'>>
  /** Sends a query as `handle`. Fails unless the answer has data and no error. */
  readonly ask: (handle: string, query: string, variables?: object) => Promise<ProcessAnswer>
  readonly close: () => Promise<void>
}

interface ProcessAnswer {
  // biome-ignore lint/suspicious/noExplicitAny: the tests assert on every field they read
  readonly data: any
}

/**
 * Answers requests over services of a test, as `feedline serve` does. It costs a quarter of a
 * second of processor time.
 * @param tells as {@link keepMemory} has it. Undefined: it keeps nothing.
 */
export async function answeringProcess(
  services: Services,
  tells: ((change: Change) => boolean) | undefined = () => true,
): Promise<AnsweringProcess> {
  if (tells) await keepMemory(services, tells)
  const config = readConfig({ NODE_ENV: 'test', MONGODB_URI: 'embedded' })
  const log = createLog('silent', 'json')
  const readiness = new Readiness(async () => {})
  const { http } = await createServer({ config, services, log, readiness, nudge: () => {} })
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  const send: AnsweringProcess['send'] = async (subject, query, variables = {}) => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(subject === undefined ? {} : { authorization: `Dev ${subject}` }),
      },
      body: JSON.stringify({ query, variables }),
    })
    const { data, errors = [] } = (await response.json()) as Partial<Answer>
    return { data, errors }
  }
  return {
    services,
    url,
    send,
    ask: async (handle, query, variables) => {
      const { errors, ...answer } = await send(handle, query, variables)
      if (errors.length > 0 || !answer.data) throw new Error(JSON.stringify(errors))
      return answer
    },
    close: async () => {
      const closed = http.close()
      http.server.closeAllConnections()
      await closed
      await services.memory.close()
    },
  }
}
