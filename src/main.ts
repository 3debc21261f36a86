#!/usr/bin/env node
import { exitCodeOf, failureText } from './cli/failure.ts'
import { buildProgram } from './cli/program.ts'

try {
  await buildProgram().parseAsync()
} catch (error) {
  process.stderr.write(`feedline: ${failureText(error)}\n`)
  process.exitCode = exitCodeOf(error)
}
