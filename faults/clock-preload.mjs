import { readFileSync } from 'node:fs'

// Shifts the wall clock of the process that preloads this module. A file holds the shift in milliseconds.
// The file is read every 20 ms. The monotonic clock does not change.
const file = process.env.FAULTS_CLOCK_FILE
const RealDate = Date
const realNow = Date.now.bind(Date)
let offsetMs = 0

const readOffset = () => {
  try {
    offsetMs = Number(readFileSync(file, 'utf8')) || 0
  } catch {
    offsetMs = 0
  }
}
readOffset()
setInterval(readOffset, 20).unref()

const now = () => realNow() + offsetMs
RealDate.now = now
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  apply: (target) => new target(now()).toString(),
})
