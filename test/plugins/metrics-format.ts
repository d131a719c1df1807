/** The text format of Prometheus, and what `promtool check metrics` finds fault with. */

/** What is wrong with it, a line each; empty: nothing. */
export function faultsOf(text: string): string[] {
  const faults: string[] = []
  const families = new Map<string, { help?: string; type?: string; isOver: boolean }>()
  const series = new Set<string>()
  let last = ''
  if (!text.endsWith('\n')) faults.push('the last line has no end')
  for (const line of text.split('\n').slice(0, -1)) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/.exec(line) ?? []
    if (kind) {
      const family = families.get(name) ?? { isOver: false }
      if (kind === 'HELP' ? family.help !== undefined : family.type !== undefined) faults.push(`${name}: ${kind} twice`)
      if (kind === 'TYPE' && [...series].some((one) => one.startsWith(`${name} `)))
        faults.push(`${name}: TYPE too late`)
      families.set(name, { ...family, [kind.toLowerCase()]: rest })
      continue
    }
    if (line === '' || line.startsWith('#')) continue
    const sample = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)(?: (-?\d+))?$/.exec(line)
    if (!sample) {
      faults.push(`not a sample: ${line}`)
      continue
    }
    const [, full = '', labels = '', value = ''] = sample
    if (!/^([-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?|NaN|[-+]Inf)$/.test(value)) faults.push(`not a value: ${line}`)
    const names = [...labels.matchAll(/([^={,]+)="((?:[^"\\\n]|\\[\\n"])*)"(?:,|$)/g)]
    if (names.map(([all]) => all).join('') !== labels) faults.push(`not labels: ${line}`)
    const family = familyOf(full, families)
    faults.push(
      ...sampleFaults(
        family,
        families.get(family)?.type,
        names.map(([, label = '']) => label),
      ),
    )
    const key = `${full} ${names.map(([all]) => all.replace(/,$/, '')).sort(byText)}`
    if (series.has(key)) faults.push(`twice: ${line}`)
    series.add(key)
    const known = families.get(family)
    if (known?.isOver && family !== last) faults.push(`${family}: not in one piece`)
    if (last !== family) {
      const before = families.get(last)
      if (before) before.isOver = true
    }
    last = family
  }
  for (const [name, { help, type }] of families) faults.push(...familyFaults(name, help, type))
  return [...new Set(faults)]
}

const byText = (one: string, other: string) => (one < other ? -1 : 1)

/** Samples of a histogram and of a summary have names of their own. */
function familyOf(name: string, families: ReadonlyMap<string, { type?: string }>): string {
  const base = name.replace(/_(bucket|sum|count)$/, '')
  return /^(histogram|summary)$/.test(families.get(base)?.type ?? '') ? base : name
}

function sampleFaults(family: string, type: string | undefined, labels: readonly string[]): string[] {
  const faults = labels
    .filter((label) => !/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(label) || new Set(labels).size < labels.length)
    .map((label) => `${family}: label ${label}`)
  if (type === undefined) faults.push(`${family}: no TYPE`)
  if (labels.includes('le') && type !== 'histogram') faults.push(`${family}: label le`)
  if (labels.includes('quantile') && type !== 'summary') faults.push(`${family}: label quantile`)
  return faults
}

const types = ['counter', 'gauge', 'histogram', 'summary']
/** Not base units, and abbreviations. */
const otherUnits =
  /(^|_)(milli|micro|nano|kilo|mega|giga)?(seconds?_?ms|minutes?|hours?|days?|weeks?|milliseconds?|microseconds?|nanoseconds?|percent|bits?|kilobytes?|megabytes?|gigabytes?|kilometers?|millimeters?|millivolts?|kelvins?|fahrenheit|ms|us|ns|s|sec|b|kb|mb|gb|m|h|d|mm|km)(_|$)/

function familyFaults(name: string, help: string | undefined, type = ''): string[] {
  const faults: string[] = []
  if (!help) faults.push('no HELP')
  if (!types.includes(type)) faults.push(`TYPE ${type}`)
  if ((type === 'counter') !== name.endsWith('_total')) faults.push('_total is of counters, and of all of them')
  if (/_(bucket|count|sum|info_total|created)$/.test(name)) faults.push('its end is reserved')
  if (!/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name)) faults.push('not snake_case')
  if (types.some((word) => name.split('_').includes(word))) faults.push('names its type')
  if (otherUnits.test(name.replace(/_total$/, ''))) faults.push('not in a base unit')
  return faults.map((fault) => `${name}: ${fault}`)
}
