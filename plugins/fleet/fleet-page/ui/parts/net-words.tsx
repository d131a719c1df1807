/** Words and lengths of the comparison with neighbours. */
import { figure, word } from '../../../../../runtime/lib/page/ui/i18n.js'
import type { ToneName } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { type AcceptanceOutcome, axes, type Enu, type NetState } from '../fleet/net-api.js'
import { t } from '../i18n/index.js'

export const stateTones: Readonly<Record<NetState, ToneName>> = {
  agrees: 'good',
  contradicts: 'broken',
  unknown: 'idle',
}
export const outcomeTones: Readonly<Record<AcceptanceOutcome, ToneName>> = {
  running: 'waiting',
  accepted: 'good',
  rejected: 'broken',
  undecided: 'warning',
  cancelled: 'idle',
}

/** Metres as millimetres; from 10 m on in metres. */
export const offsetText = (metres: number): string =>
  Math.abs(metres) < 10 ? figure(Math.round(metres * 1_000) + 0, 0, 'mm') : figure(metres, 2, 'm')

/** Metres as a number of millimetres, for tables that name the unit. */
export const mmText = (metres: number): string => figure(Math.round(metres * 10_000) / 10 + 0, 1)

/** With its standard deviation; 0: it is not known. */
export const withSigma = (metres: number, sigma_m: number): string =>
  sigma_m > 0 ? `${offsetText(metres)} ± ${offsetText(sigma_m)}` : offsetText(metres)

/** East, north and up, for a list of figures. */
export const offsetRows = (offset: Enu, sigma: Enu) =>
  axes.map((axis) => [t(`net.${axis}`), withSigma(offset[axis], sigma[axis])] as const)

/** A reason in words. A sentence of the fleet is shown as it is. */
export function Reason({ of }: { of: string }) {
  const text = word('net.reason', of)
  return <span lang={text === of ? 'en' : undefined}>{text}</span>
}
