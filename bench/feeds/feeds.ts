import type { BenchOptions } from '../options.ts'
import { summarize } from '../statistics.ts'
import { formatGrowthTable, measurePageGrowth } from './growth.ts'
import { measureInboxDeliveries } from './inbox-deliveries.ts'
import { runReed98 } from './reed98.ts'
import {
  computeInboxRatios,
  computeRatios,
  formatCreatePostTable,
  formatDeliveryTable,
  formatHttpTable,
  formatInboxTable,
  formatMixTable,
  formatRatioTable,
  formatServiceTable,
} from './report.ts'
import { writeCharts } from './result-charts.ts'
import { runZipf } from './zipf.ts'

/** Compares timelines with Socialite's implementation and with bare handlers, on two graphs. */
export async function benchmarkFeeds(options: BenchOptions) {
  const { log, print } = options
  const inbox = await measureInboxDeliveries(options)
  const reed98 = await runReed98(options)
  if (!reed98) log('Reed98 was not found. Use --graph FILE')
  const zipf = await runZipf(options)
  const growth = [...(await measurePageGrowth(options)), ...zipf.growth]
  const ratios = { ...computeInboxRatios(inbox), ...computeRatios(zipf, reed98) }
  print(`Node ${process.version}\n`)
  print(formatRatioTable(ratios))
  print(formatInboxTable(inbox))
  print(formatDeliveryTable({ zipf: zipf.rates, ...(reed98 ? { Reed98: reed98.rates } : {}) }))
  print(formatCreatePostTable(zipf.create))
  if (reed98) {
    print(formatServiceTable(reed98.service))
    print(formatHttpTable(reed98.http))
    print(formatMixTable(reed98.mix))
  }
  print(formatGrowthTable(growth))
  for (const path of await writeCharts(options.plots, zipf, growth)) {
    log(`wrote ${path}`)
  }
  const medians = Object.entries(ratios).map(([name, values]) => [name, summarize(values).median])
  return { ...Object.fromEntries(medians), node: process.version, inbox }
}
