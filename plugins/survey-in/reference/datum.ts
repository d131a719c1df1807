/** The frame and the epoch that coordinates are in, as text: nothing is converted, only named and compared. Pure. */
import type { ConfigKey, PluginContext } from 'rtk-base/plugin'
import { Type } from 'typebox'

export interface Datum {
  /** e.g. `ETRF2000`; empty: not known. */
  frame: string
  /** e.g. `2010.0`. */
  epoch: string
}

export interface DatumParameters {
  readonly reference: readonly string[]
  readonly corrections: readonly string[]
  /** The intended frame and epoch of the station's reference. */
  wanted(): Datum
  /** The declared frame and epoch of the corrections. */
  ofCorrections(): Datum
}

const longest = 32
const notPrintable = /[^\x20-\x7e]/
const sourceFrame = 'frame of the correction source'

/** `gnss-ref-frame`, `gnss-ref-epoch` and the same of the corrections, `gnss-recvrtcm-…`. */
export function defineDatum({ config }: Pick<PluginContext, 'config'>): DatumParameters {
  const text = (name: string, title: string, description: string) => {
    const key = config.define(name, Type.String({ maxLength: longest, description }), { default: '', title })
    config.rule([name], (get) =>
      notPrintable.test(get(name) as string) ? `${name} may hold printable ASCII characters only` : undefined,
    )
    return key
  }
  const datum = (prefix: string, whose: string, of: string) => [
    text(`${prefix}-frame`, `${whose}: frame`, `The frame ${of}, e.g. ETRF2000, at most ${longest} characters`),
    text(
      `${prefix}-epoch`,
      `${whose}: epoch of the frame`,
      `The epoch ${of}, e.g. 2010.0, at most ${longest} characters`,
    ),
  ]
  const read = ([frame, epoch]: ConfigKey<string>[]): Datum => ({
    frame: frame.get().trim(),
    epoch: epoch.get().trim(),
  })
  const wanted = datum('gnss-ref', 'Reference', "of this station's reference")
  const corrections = datum('gnss-recvrtcm', 'Corrections', 'of the correction source')
  return {
    reference: wanted.map(({ name }) => name),
    corrections: corrections.map(({ name }) => name),
    wanted: () => read(wanted),
    ofCorrections: () => read(corrections),
  }
}

/**
 * Frame and epoch of a survey-in: those of its corrections, otherwise those of the broadcast orbits.
 * @param t of the survey-in, UTC seconds; 0 unknown
 */
export function surveyDatum(corrected: boolean, ofCorrections: Datum, t: number): Datum {
  if (!corrected) return { frame: 'WGS84', epoch: t > 0 ? decimalYear(t) : '' }
  return ofCorrections.frame ? ofCorrections : { frame: sourceFrame, epoch: ofCorrections.epoch }
}

/** Whether the frame of the corrections was not declared. */
export const isUndeclared = ({ frame }: Datum): boolean => frame === sourceFrame

/** Whether two of them are known to be different. */
export function differs(a: Datum, b: Datum): boolean {
  if (!a.frame || !b.frame || isUndeclared(a) || isUndeclared(b)) return false
  if (plain(a.frame) !== plain(b.frame)) return true
  return a.epoch !== '' && b.epoch !== '' && plainEpoch(a.epoch) !== plainEpoch(b.epoch)
}

export function datumText({ frame, epoch }: Datum): string {
  return epoch ? `${frame} epoch ${epoch}` : frame
}

/** `ETRF 2000`, `etrf-2000` and `ETRF2000` are one frame. */
const plain = (frame: string) => frame.toUpperCase().replaceAll(/[\s_-]/g, '')

const plainEpoch = (epoch: string) => (Number.isFinite(Number(epoch)) ? String(Number(epoch)) : plain(epoch))

function decimalYear(t: number): string {
  const year = new Date(t * 1000).getUTCFullYear()
  const [from, to] = [Date.UTC(year, 0), Date.UTC(year + 1, 0)]
  return (year + (t * 1000 - from) / (to - from)).toFixed(2)
}
