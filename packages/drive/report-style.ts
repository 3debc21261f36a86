/** The style of a report. */
export const reportStyle = `
:root { --back: #f7f7f5; --card: #fff; --ink: #1d1f23; --soft: #5c616b; --line: #dcdde0;
  --good: #1b7f4b; --bad: #b3261e; --warn: #8a5a00 }
@media (prefers-color-scheme: dark) {
  :root { --back: #14161a; --card: #1d2026; --ink: #e8e9ec; --soft: #a3a8b3; --line: #343841;
    --good: #5fd198; --bad: #ff8a80; --warn: #f0b95b }
}
* { box-sizing: border-box }
body { margin: 0; padding: 28px 20px 48px; background: var(--back); color: var(--ink);
  font: 14px/1.5 system-ui, sans-serif }
header, main { max-width: 1180px; margin: 0 auto }
h1 { margin: 0; font-size: 24px; line-height: 1.2 }
h2 { margin: 32px 0 8px; font-size: 16px }
header p { margin: 4px 0 20px; color: var(--soft) }
.verdicts { display: grid; gap: 12px; grid-template-columns: repeat(auto-fit, minmax(230px, 1fr)) }
.verdict, figure, .table { background: var(--card); border: 1px solid var(--line); border-radius: 8px }
.verdict { padding: 12px 14px; border-left-width: 4px }
.verdict b { display: block; font-size: 16px }
.verdict span { color: var(--soft) }
.good { border-left-color: var(--good) } .good b { color: var(--good) }
.bad { border-left-color: var(--bad) } .bad b { color: var(--bad) }
.warn { border-left-color: var(--warn) } .warn b { color: var(--warn) }
.charts { display: grid; gap: 14px; margin-top: 14px;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 460px), 1fr)) }
figure { margin: 0; padding: 12px 14px }
figcaption { font-weight: 600; margin-bottom: 4px }
svg { display: block; width: 100%; height: auto }
svg text { font: 12px system-ui, sans-serif; fill: var(--ink) }
svg .unit { fill: var(--soft) }
svg .grid { stroke: var(--line) }
.table { overflow-x: auto }
table { border-collapse: collapse; width: 100% }
th, td { padding: 6px 12px; text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
th { color: var(--soft); font-weight: 600 }
tr + tr td { border-top: 1px solid var(--line) }
th.text, td.text { text-align: left }
td.long { white-space: normal; overflow-wrap: anywhere }
`
