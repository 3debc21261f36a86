import type { Services } from '../../../src/services.ts'
import { gate } from '../../support/jobs.ts'

/** Holds one read of polls before it begins: a watermark or a slice of a timeline. */
export function heldAtRead({ watermarks, feed }: Services, at: number) {
  const [reached, going] = [gate(), gate()]
  let left = at
  const hold = async () => {
    if (left-- > 0) return
    reached.open()
    await going.opened
  }
  const load = watermarks.load.bind(watermarks)
  watermarks.load = async (...asked) => hold().then(() => load(...asked))
  const readSlice = feed.readSlice.bind(feed)
  feed.readSlice = async (...asked) => hold().then(() => readSlice(...asked))
  return { reached: reached.opened, go: going.open }
}
