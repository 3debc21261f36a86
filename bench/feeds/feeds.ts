import { spreadOf } from '../drive.ts'
import type { BenchOptions } from '../options.ts'
import { drawAll } from './draw.ts'
import { growthTable, measurePageGrowth } from './growth.ts'
import { writePlots } from './plots.ts'
import { onReed98 } from './reed.ts'
import {
  createTable,
  deliveryTable,
  httpTable,
  mixTable,
  ratiosOf,
  ratioTable,
  serviceTable,
} from './report.ts'
import { onZipf } from './zipf.ts'

/** Timelines on write, side by side with Socialite's way and with bare handlers, on two graphs. */
export async function feeds(options: BenchOptions) {
  const { say, show } = options
  const reed = await onReed98(options)
  if (!reed) say('there is no Reed98 here: name its file with --graph')
  const zipf = await onZipf(options)
  const growth = [...(await measurePageGrowth(options)), ...zipf.growth]
  const ratios = ratiosOf(zipf, reed)
  show(ratioTable(ratios))
  show(deliveryTable({ zipf: zipf.rates, ...(reed ? { Reed98: reed.rates } : {}) }))
  show(createTable(zipf.create))
  if (reed) {
    show(serviceTable(reed.service))
    show(httpTable(reed.http))
    show(mixTable(reed.mix))
  }
  show(growthTable(growth))
  for (const path of await writePlots(options.plots, drawAll(zipf, reed, growth))) {
    say(`wrote ${path}`)
  }
  return Object.fromEntries(
    Object.entries(ratios).map(([name, values]) => [name, spreadOf(values).median]),
  )
}
