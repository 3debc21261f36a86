import fc from 'fast-check'
import { lawRuns } from './seed.ts'

// For each property that does not say how many examples it tries.
fc.configureGlobal({ numRuns: lawRuns(100) })
