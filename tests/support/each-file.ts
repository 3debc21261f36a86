import { afterAll } from 'vitest'
import { killProcesses } from './process.ts'

// Vitest runs this before each test file, so the hook runs after the hooks of the file.
afterAll(killProcesses)
