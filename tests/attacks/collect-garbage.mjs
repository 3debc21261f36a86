// Loaded into an attacked process: it collects its garbage on a signal, so that its heap can be compared.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')
let times = 0
// A signal that the process itself does not use.
process.on('SIGWINCH', () => {
  collect()
  console.log(`garbage collection ${++times};`)
})
