const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'narrow' })
const absolute = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' })
const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

function format(date: Date): string {
  const ms = Date.now() - date.getTime()
  if (ms > 7 * 86_400_000) return absolute.format(date)
  const [unit, length] = units.find(([, unitMs]) => ms >= unitMs) ?? []
  return unit && length ? relative.format(-Math.floor(ms / length), unit) : 'now'
}

export function Time({ at }: { at: string }) {
  const date = new Date(at)
  return (
    <time dateTime={at} title={absolute.format(date)}>
      {format(date)}
    </time>
  )
}
