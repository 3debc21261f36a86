// Prints the numbers of tests that passed and failed in a report of vitest's, then what failed and why.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'))
console.log(`${report.numPassedTests} ${report.numFailedTests}`)
const linesMax = 8
const beginning = (text) => (text ?? '').split('\n').slice(0, linesMax).join('\n  ')
for (const { name, message, status, assertionResults } of report.testResults) {
  const file = relative('.', name)
  const bad = assertionResults.filter((one) => one.status === 'failed')
  for (const { fullName, failureMessages } of bad)
    console.log(`${file}: ${fullName}: ${beginning(failureMessages[0])}`)
  if (status === 'failed' && bad.length === 0) console.log(`${file}: ${beginning(message)}`)
}
