/** A position that a person knows: pasted, looked at, then sent. The station judges it. */
import { useState } from 'preact/hooks'
import { Confirm } from '../../../../../../runtime/lib/page/ui/parts/action.js'
import { FigureList, Tone } from '../../../../../../runtime/lib/page/ui/parts/card.js'
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
  placeOf,
  previewOf,
} from '../../model/gnss/positions.js'
import { ownAntenna } from '../../station/antennas.js'
import { api } from '../../station/api.js'
import { document$, hello } from '../../station/live.js'
import { PlaceDrawing } from '../map-card.js'
import { keepPlace } from '../saved-positions.js'
import { useFocusWrong } from './focus-wrong.js'
import { TextField } from './text-field.js'

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

/** What the page finds wrong, by field. */
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
  const [isAsking, setAsking] = useState(false)
  const [isChecked, setChecked] = useState(false)
  const [isLeft, setLeft] = useState(false)
  const { form, focusWrong } = useFocusWrong<HTMLFormElement>()
  const [message, setMessage] = useState({ text: '', isTrouble: false })
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

  const check = (event: Event) => {
    event.preventDefault()
    setChecked(true)
    if (Object.keys(all).length === 0) setAsking(true)
    else focusWrong()
  }
  const send = async () => {
    if (!entry) return
    try {
      if (typed.name.trim() !== '') {
        await keepPlace(typed.name, placeOf(entry))
        if (!entry.isChosen) {
          setMessage({ text: t('saved.kept'), isTrouble: false })
          setTyped(nothing)
          setChecked(false)
          return done()
        }
      }
      const { errors = [], result } = await api.change(changeOf(entry))
      const isTrouble = result === 'failed'
      setMessage({
        text: isTrouble
          ? errors.map(({ message: why }) => why).join('; ')
          : t(entry.isChosen ? 'positions.sent' : 'positions.kept'),
        isTrouble,
      })
      if (isTrouble) return
      setTyped(nothing)
      setChecked(false)
      done()
    } catch (error) {
      setMessage({ text: error instanceof Error ? error.message : String(error), isTrouble: true })
    }
  }
  return (
    <form ref={form} onSubmit={check} noValidate>
      <label for="position-text">{t('positions.text')}</label>
      <textarea
        id="position-text"
        rows={2}
        spellcheck={false}
        autocomplete="off"
        value={typed.text}
        aria-invalid={troubles.text !== undefined}
        aria-describedby="position-help"
        onChange={() => setLeft(true)}
        // The accuracy of the position before is not that of another one.
        onInput={({ currentTarget: { value: text } }) =>
          set({ text, live_m: undefined, ...(typed.live_m !== undefined && { acc: '' }) })
        }
      />
      <p id="position-help" class="quiet">
        {t('positions.textHelp')} <span class="trouble">{troubles.text}</span>
      </p>
      <TakeLive taken_m={typed.live_m} take={set} />
      <fieldset>
        <legend>{t('positions.point')}</legend>
        {entryPoints.map((one) => (
          <label key={one} class="switch">
            <input type="radio" name="of" checked={typed.of === one} onChange={() => set({ of: one })} />
            {t(`positions.point.${one}`)}
          </label>
        ))}
        <p class="quiet">{t('positions.pointHelp')}</p>
        {typed.of !== 'arp' && (
          <>
            <Field
              name="height"
              label={t(typed.of === 'marker' ? 'positions.field.antenna' : 'positions.field.offset')}
              value={typed.height}
              trouble={troubles.height}
              set={(height) => set({ height })}
            />
            {typed.of === 'phase-centre' && <TakeCalibrated take={(height) => set({ height })} />}
          </>
        )}
      </fieldset>
      <details>
        <summary>{t('positions.more')}</summary>
        <div class="row">
          <Field
            name="acc"
            label={t('positions.field.acc')}
            value={typed.acc}
            trouble={troubles.acc}
            set={(acc) => set({ acc })}
          />
          <Field
            name="frame"
            label={t('positions.field.frame')}
            value={typed.frame}
            isText
            set={(frame) => set({ frame })}
          />
          <Field
            name="epoch"
            label={t('positions.field.epoch')}
            value={typed.epoch}
            isText
            set={(epoch) => set({ epoch })}
          />
        </div>
        <label class="switch">
          <input
            type="checkbox"
            checked={typed.isCorrected}
            onChange={({ currentTarget }) => set({ isCorrected: currentTarget.checked })}
          />
          {t('positions.corr')}
        </label>
      </details>
      <label class="switch">
        <input
          type="checkbox"
          checked={typed.isChosen}
          onChange={({ currentTarget }) => set({ isChosen: currentTarget.checked })}
        />
        {t('positions.choose')}
      </label>
      <TextField label={t('saved.name')} help={t('saved.nameHelp')} value={typed.name} set={(name) => set({ name })} />
      {entry && <Preview entry={entry} />}
      <div class="actions">
        <button type="submit" class="main" disabled={hello.value?.role === 'viewer'}>
          {t('positions.review')}
        </button>
      </div>
      <p class={message.isTrouble ? 'trouble' : ''} role="status">
        {message.isTrouble || message.text === '' ? message.text : <Tone tone="good">{message.text}</Tone>}
      </p>
      {message.text !== '' && !message.isTrouble && (
        <a class="target" href="#/status">
          {t('guide.finish')}
        </a>
      )}
      {isAsking && entry && (
        <Ask
          entry={entry}
          answer={(isYes) => {
            setAsking(false)
            if (isYes) void send()
          }}
        />
      )}
    </form>
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
      {isFar && (
        <label class="switch">
          <input type="checkbox" checked={isSure} onChange={({ currentTarget }) => setSure(currentTarget.checked)} />
          {t('positions.sure')}
        </label>
      )}
    </Confirm>
  )
}

function Field(props: {
  name: string
  label: string
  value: string
  trouble?: string | undefined
  isText?: boolean
  set: (value: string) => void
}) {
  const { isText, label, name, set, trouble, value } = props
  const id = `position-${name}`
  return (
    <label for={id}>
      {label}
      <input
        id={id}
        type="text"
        inputMode={isText ? 'text' : 'decimal'}
        autocomplete="off"
        value={value}
        aria-invalid={trouble !== undefined}
        aria-describedby={trouble ? `${id}-trouble` : undefined}
        onInput={({ currentTarget }) => set(currentTarget.value)}
      />
      {trouble && (
        <span id={`${id}-trouble`} class="trouble">
          {trouble}
        </span>
      )}
    </label>
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
