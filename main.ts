#!/usr/bin/env node
import './packages/index.ts'
import { runCommandLine } from './src/cli/program.ts'

await runCommandLine(process.argv.slice(2))
