/** A position that a person knows: pasted, looked at, then sent. The station judges it. */
import { useState } from 'preact/hooks'
import { Confirm } from '../../../../../../runtime/lib/page/ui/parts/action.js'
import { FigureList } from '../../../../../../runtime/lib/page/ui/parts/card.js'
import { Field, Options, Switch } from '../../../../../../runtime/lib/page/ui/parts/form/field.js'
import { Form } from '../../../../../../runtime/lib/page/ui/parts/form/form.js'
import { useSubmit } from '../../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { useLoaded } from '../../../../../../runtime/lib/page/ui/parts/loaded.js'
import { figure, t } from '../../i18n/index.js'
import { enuText, lengthText } from '../../i18n/lengths.js'
import { type PositionReading, readPosition } from '../../model/gnss/position-text.js'
import {
  antennaOf,
  changeOf,
  type EntryPoint,
  entryPoints,
  liveText,
  numberOf,
  type PositionEntry,
  previewOf,
} from '../../model/gnss/positions.js'
import { ownAntenna } from '../../station/antennas.js'
import { api } from '../../station/api.js'
import { document$ } from '../../station/live.js'
import { PlaceDrawing } from '../map-card.js'
import { savePosition } from '../saved-positions.js'

/** A distance beyond which a person must say it twice, metres: the station's own start-up check would not agree. */
const far_m = 15
/** No mast is higher. */
const highest_m = 100

/** The fields as typed. */
interface Typed {
  text: string
  /** The text is the position of now, with this accuracy, metres; 0: unknown. */
  live_m: number | undefined
  of: EntryPoint
  height: string
  acc: string
  frame: string
  epoch: string
  isCorrected: boolean
  isChosen: boolean
  /** Under which it is kept in the list; empty: not there. */
  name: string
}
const nothing: Typed = {
  text: '',
  live_m: undefined,
  of: 'arp',
  height: '',
  acc: '',
  frame: '',
  epoch: '',
  isCorrected: false,
  isChosen: true,
  name: '',
}

/** Troubles that the page finds, by field. */
function troublesOf(
  typed: Typed,
  reading: PositionReading,
): Partial<Record<'text' | 'height' | 'acc', string | undefined>> {
  const height = numberOf(typed.height)
  const isHigh = typed.of !== 'arp' && (height === undefined || Math.abs(height) > highest_m)
  const acc = typed.acc.trim() === '' ? 0 : numberOf(typed.acc)
  return {
    ...('trouble' in reading && { text: t(`positions.trouble.${reading.trouble}`) }),
    ...(isHigh && { height: t('positions.noNumber') }),
    ...((acc === undefined || acc < 0) && { acc: t('positions.noNumber') }),
  }
}

function entryOf(typed: Typed, reading: PositionReading): PositionEntry | undefined {
  if ('trouble' in reading) return undefined
  const { of, epoch, isChosen, isCorrected } = typed
  return {
    read: reading,
    of,
    epoch,
    isChosen,
    isCorrected,
    height_m: of === 'arp' ? 0 : (numberOf(typed.height) ?? 0),
    acc_m: numberOf(typed.acc) ?? reading.acc_m ?? 0,
    frame: typed.frame || (reading.frame ?? ''),
  }
}

export function PositionForm({ done }: { done: () => void }) {
  const [typed, setTyped] = useState(nothing)
  const [isChecked, setChecked] = useState(false)
  const [isLeft, setLeft] = useState(false)
  const set = (more: Partial<Typed>) => setTyped((before) => ({ ...before, ...more }))
  const reading = readPosition(typed.text)
  const all = troublesOf(typed, reading)
  // What was entered is judged at once, an empty field at the review.
  const troubles: typeof all = isChecked
    ? all
    : {
        text: isLeft && typed.text.trim() !== '' ? all.text : undefined,
        height: typed.height.trim() === '' ? undefined : all.height,
        acc: all.acc,
      }
  const entry = entryOf(typed, reading)

  const submission = useSubmit(async () => {
    if (!entry) return ''
    const { isChosen } = entry
    const name = typed.name.trim()
    if (name !== '') await savePosition(name, entry)
    if (name === '' || isChosen) await api.change(changeOf(entry))
    setTyped(nothing)
    setChecked(false)
    done()
    return t(isChosen ? 'positions.sent' : name === '' ? 'positions.kept' : 'saved.kept')
  })
  const { answer } = submission
  return (
    <Form
      submission={submission}
      label={t('positions.review')}
      isWrong={Object.keys(all).length > 0}
      attempted={() => setChecked(true)}
      ask={(answered) => entry && <Ask entry={entry} answer={answered} />}
      foot={
        answer.text !== '' &&
        !answer.isTrouble && (
          <a class="target" href="#/status">
            {t('guide.finish')}
          </a>
        )
      }
    >
      <Field
        label={t('positions.text')}
        rows={2}
        value={typed.text}
        help={t('positions.textHelp')}
        trouble={troubles.text}
        left={() => setLeft(true)}
        // The accuracy of the position before is not that of another one.
        set={(text) => set({ text, live_m: undefined, ...(typed.live_m !== undefined && { acc: '' }) })}
      />
      <TakeLive taken_m={typed.live_m} take={set} />
      <Options
        label={t('positions.point')}
        options={entryPoints}
        textOf={(one) => t(`positions.point.${one}`)}
        value={typed.of}
        set={(of) => set({ of })}
      >
        <p class="quiet">{t('positions.pointHelp')}</p>
        {typed.of !== 'arp' && (
          <>
            <Field
              kind="number"
              label={t(typed.of === 'marker' ? 'positions.field.antenna' : 'positions.field.offset')}
              value={typed.height}
              trouble={troubles.height}
              set={(height) => set({ height })}
            />
            {typed.of === 'phase-centre' && <TakeCalibrated take={(height) => set({ height })} />}
          </>
        )}
      </Options>
      <details>
        <summary>{t('positions.more')}</summary>
        <div class="row">
          <Field
            kind="number"
            label={t('positions.field.acc')}
            value={typed.acc}
            trouble={troubles.acc}
            set={(acc) => set({ acc })}
          />
          <Field label={t('positions.field.frame')} value={typed.frame} set={(frame) => set({ frame })} />
          <Field label={t('positions.field.epoch')} value={typed.epoch} set={(epoch) => set({ epoch })} />
        </div>
        <Switch label={t('positions.corr')} isOn={typed.isCorrected} set={(isCorrected) => set({ isCorrected })} />
      </details>
      <Switch label={t('positions.choose')} isOn={typed.isChosen} set={(isChosen) => set({ isChosen })} />
      <Field label={t('saved.name')} help={t('saved.nameHelp')} value={typed.name} set={(name) => set({ name })} />
      {entry && <Preview entry={entry} />}
    </Form>
  )
}

/** The position of now into the field; it is looked at and sent like any other. */
function TakeLive({ taken_m, take }: { taken_m: number | undefined; take: (more: Partial<Typed>) => void }) {
  const live = liveText(document$.value)
  if (!live) return null
  const { acc_m, text } = live
  const told = taken_m ? t('positions.live.acc', { acc: lengthText(taken_m) }) : t('positions.live.unknown')
  return (
    <div class="action">
      <button type="button" onClick={() => take({ text, live_m: acc_m, acc: acc_m > 0 ? acc_m.toFixed(2) : '' })}>
        {t('positions.live')}
      </button>
      <p class="quiet" role="status">
        {taken_m !== undefined && told}
      </p>
    </div>
  )
}

/** The calibrated height of the phase centre of the station's antenna into the field. Nothing if it is not known. */
function TakeCalibrated({ take }: { take: (height: string) => void }) {
  const own = useLoaded(ownAntenna).value?.own
  const up_mm = own?.up_mm.G01
  if (!own || up_mm === undefined) return null
  const height = (up_mm / 1_000).toFixed(4)
  return (
    <div class="action">
      <button type="button" onClick={() => take(height)}>
        {t('positions.calibrated', { height: figure(up_mm / 1_000, 4, 'm') })}
      </button>
      <p class="quiet">{t('positions.calibratedOf', { antenna: own.type })}</p>
    </div>
  )
}

/** The last look. A far position needs a second yes. */
function Ask({ entry, answer }: { entry: PositionEntry; answer: (isYes: boolean) => void }) {
  const [isSure, setSure] = useState(false)
  const isFar = (previewOf(antennaOf(entry), document$.value).away_m ?? 0) > far_m
  return (
    <Confirm
      title={t('positions.reviewTitle')}
      yes={t(entry.isChosen ? 'positions.send' : 'saved.save')}
      isBlocked={isFar && !isSure}
      answer={answer}
    >
      <Preview entry={entry} />
      <p>{t(entry.isChosen ? 'positions.willUse' : 'positions.willKeep')}</p>
      {isFar && <Switch label={t('positions.sure')} isOn={isSure} set={setSure} />}
    </Confirm>
  )
}

/** Where it lies: in numbers, and drawn beside the position of now. */
function Preview({ entry }: { entry: PositionEntry }) {
  const antenna = antennaOf(entry)
  const { geodetic, fromReference, fromLive, away_m } = previewOf(antenna, document$.value)
  const from = fromLive ?? fromReference
  return (
    <div class="preview">
      <FigureList
        rows={[
          [
            t('positions.means'),
            `${geodetic.lat.toFixed(8)}°, ${geodetic.lon.toFixed(8)}°, ${figure(geodetic.alt, 3, 'm')}`,
          ],
          [t('positions.fromReference'), fromReference && enuText(fromReference)],
          [t('positions.fromLive'), fromLive && enuText(fromLive)],
          [t('positions.acc'), entry.acc_m > 0 && lengthText(entry.acc_m)],
        ]}
      />
      {from && <PlaceDrawing from={from} />}
      {away_m !== undefined && away_m > far_m && (
        <p class="trouble">{t('positions.far', { distance: lengthText(away_m) })}</p>
      )}
    </div>
  )
}
