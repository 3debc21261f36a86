import { readFileSync } from 'node:fs'

// Shifts the wall clock of the process that preloads this by the milliseconds that a file holds.
// The file is read again every 20 ms. The monotonic clock stays as it is.
const file = process.env.FAULTS_CLOCK_FILE
const RealDate = Date
const realNow = Date.now.bind(Date)
let offsetMs = 0

const read = () => {
  try {
    offsetMs = Number(readFileSync(file, 'utf8')) || 0
  } catch {
    offsetMs = 0
  }
}
read()
setInterval(read, 20).unref()

const now = () => realNow() + offsetMs
RealDate.now = now
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  apply: (target) => new target(now()).toString(),
})
