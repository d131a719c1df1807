/** A position that a person knows: entered, looked at, then sent. The station judges it. */
import { useState } from 'preact/hooks'
import { figure, t } from '../../i18n/index.js'
import {
  badFields,
  changeOf,
  type Entry,
  enuText,
  fieldsOf,
  type Mode,
  pointOf,
  previewOf,
} from '../../model/gnss/positions.js'
import { api } from '../../station/api.js'
import { document$, hello } from '../../station/live.js'
import { Confirm } from '../action.js'
import { FigureList } from '../card.js'

/** A stated distance beyond which a person is asked to look again, metres: the station's own start-up check would not agree. */
const far_m = 15

export function PositionForm({ done }: { done: () => void }) {
  const [mode, setMode] = useState<Mode>('angles')
  const [entry, setEntry] = useState<Entry>({})
  const [point, setPoint] = useState<'arp' | 'phase-centre'>('arp')
  const [isChosen, setChosen] = useState(true)
  const [isAsking, setAsking] = useState(false)
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({})
  const [message, setMessage] = useState({ text: '', isTrouble: false })
  const set = (name: string, value: string) => setEntry((before) => ({ ...before, [name]: value }))
  const place = pointOf(mode, entry)

  const check = (event: Event) => {
    event.preventDefault()
    const wrong = Object.fromEntries(badFields(mode, entry).map((name) => [name, t('positions.noNumber')]))
    setErrors(wrong)
    if (Object.keys(wrong).length === 0) setAsking(true)
  }
  const send = async () => {
    try {
      const answer = await api.change(changeOf(mode, entry, point, isChosen))
      const refused = answer.errors ?? []
      setErrors(
        Object.fromEntries(refused.map(({ name, message: why }) => [name.replace('gnss-ref-manual-', ''), why])),
      )
      const isTrouble = answer.result === 'failed'
      setMessage({
        text: isTrouble ? refused.map(({ message: why }) => why).join('; ') : t('positions.sent'),
        isTrouble,
      })
      if (!isTrouble) done()
    } catch (error) {
      setMessage({ text: error instanceof Error ? error.message : String(error), isTrouble: true })
    }
  }
  const field = (name: string, label: string) => (
    <Field key={name} name={name} label={label} value={entry[name] ?? ''} trouble={errors[name]} set={set} />
  )
  return (
    <form onSubmit={check} noValidate>
      <fieldset>
        <legend>{t('positions.mode')}</legend>
        {(['angles', 'axes'] as const).map((one) => (
          <label key={one} class="switch">
            <input type="radio" name="mode" checked={mode === one} onChange={() => setMode(one)} />
            {t(`positions.mode.${one}`)}
          </label>
        ))}
      </fieldset>
      <div class="row">{fieldsOf(mode).map((name) => field(name, t(`positions.field.${name}`)))}</div>
      <div class="row">
        {field('acc', t('positions.field.acc'))}
        {field('frame', t('positions.field.frame'))}
        {field('epoch', t('positions.field.epoch'))}
      </div>
      <label>
        {t('positions.point')} <br />
        <select value={point} onChange={({ currentTarget }) => setPoint(currentTarget.value as typeof point)}>
          <option value="arp">{t('positions.point.arp')}</option>
          <option value="phase-centre">{t('positions.point.phase-centre')}</option>
        </select>
      </label>
      {point === 'phase-centre' && field('offset', t('positions.field.offset'))}
      <label class="switch">
        <input
          type="checkbox"
          checked={entry.corr === 'true'}
          onChange={({ currentTarget }) => set('corr', String(currentTarget.checked))}
        />
        {t('positions.corr')}
      </label>
      <label class="switch">
        <input type="checkbox" checked={isChosen} onChange={({ currentTarget }) => setChosen(currentTarget.checked)} />
        {t('positions.choose')}
      </label>
      {place && <Preview place={place} />}
      <button type="submit" class="main" disabled={hello.value?.role === 'viewer'}>
        {t('positions.review')}
      </button>
      <p class={message.isTrouble ? 'trouble' : ''} role="status">
        {message.text}
      </p>
      {isAsking && place && (
        <Confirm
          title={t('positions.reviewTitle')}
          yes={t('positions.send')}
          answer={(isYes) => {
            setAsking(false)
            if (isYes) void send()
          }}
        >
          <Preview place={place} />
          <p>{t(isChosen ? 'positions.willUse' : 'positions.willKeep')}</p>
        </Confirm>
      )}
    </form>
  )
}

function Field(props: {
  name: string
  label: string
  value: string
  trouble: string | undefined
  set: (name: string, value: string) => void
}) {
  const { label, name, set, trouble, value } = props
  const id = `position-${name}`
  return (
    <label for={id}>
      {label}
      <input
        id={id}
        type="text"
        inputMode={name === 'frame' || name === 'epoch' ? 'text' : 'decimal'}
        autocomplete="off"
        value={value}
        aria-invalid={trouble !== undefined}
        aria-describedby={trouble ? `${id}-trouble` : undefined}
        onInput={({ currentTarget }) => set(name, currentTarget.value)}
      />
      {trouble && (
        <span id={`${id}-trouble`} class="trouble">
          {trouble}
        </span>
      )}
    </label>
  )
}

/** Preview of the position and its distance to the current one. */
function Preview({ place }: { place: NonNullable<ReturnType<typeof pointOf>> }) {
  const { geodetic, fromReference, fromLive, away_m } = previewOf(place, document$.value)
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
        ]}
      />
      {away_m !== undefined && away_m > far_m && (
        <p class="trouble">{t('positions.far', { distance: figure(away_m, 0, 'm') })}</p>
      )}
    </div>
  )
}
