/** A position from a PPP service: asked for, waited for, looked at, used. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { change, post } from '../../../../../runtime/lib/page/ui/http.js'
import { Action } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { Card, FigureList, Tone } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { Field } from '../../../../../runtime/lib/page/ui/parts/form/field.js'
import { useLoaded } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { Plot } from '../../../../../runtime/lib/page/ui/parts/plot.js'
import { figure, moment, t, word } from '../i18n/index.js'
import { enuText, lengthText } from '../i18n/lengths.js'
import { sentence } from '../i18n/plugin-texts.js'
import { isLastDayUsable, type RawDay, type RawFiles, usableDays } from '../model/raw-days.js'
import { api, type Parameter } from '../station/api.js'
import { SettingForm } from './forms/setting-form.js'
import { ReportForm } from './report-form.js'

interface Enu {
  readonly east: number
  readonly north: number
  readonly up: number
}
interface Ppp {
  readonly job?: { readonly state: string; readonly text: string; readonly next: number }
  readonly results: readonly PppResult[]
  readonly series: readonly { readonly epoch: number; readonly offset: Enu; readonly sigma: Enu }[]
}
interface PppResult {
  readonly id: number
  readonly t: number
  readonly preview: {
    readonly frame: string
    readonly epoch: number
    readonly acc: number
    readonly doubts: readonly string[]
    readonly drift?: number
    readonly offset?: Enu
  }
}

const noFiles: RawFiles = { recording: false, notes: [], files: [] }
const load = async () => {
  const [ppp, parameters, files] = await Promise.all([
    api.get<Ppp>('/ppp'),
    api.parameters(),
    // A station may have no archive: a report can be imported nevertheless.
    api.get<RawFiles>('/raw/files').catch(() => noFiles),
  ])
  return { ppp, parameters, days: usableDays(files), isReady: isLastDayUsable(files, Date.now() / 1000) }
}
const settings = ['ppp-account', 'gnss-announce-frame', 'gnss-announce-epoch', 'gnss-plate', 'ppp-repeat'] as const
const again_ms = 10_000

/** Nothing on a station without the plugin. @param used after a position was applied @param isWanted it is scrolled to */
export function PppCard({ isWanted, used }: { isWanted: boolean; used: () => void }) {
  const { again, value } = useLoaded(load)
  const isBusy = value?.ppp.job !== undefined && value.ppp.job.state !== 'failed'
  useEffect(() => {
    if (!isBusy) return
    const timer = setInterval(again, again_ms)
    return () => clearInterval(timer)
  }, [isBusy, again])
  const top = useRef<HTMLDivElement>(null)
  const isLoaded = value !== undefined
  useEffect(() => {
    if (isLoaded && isWanted) top.current?.scrollIntoView()
  }, [isLoaded, isWanted])
  if (!value) return null
  const { days, isReady, parameters, ppp } = value
  // The first time one tap does both, if there is data already.
  const begins = isReady && !ppp.job && !hasAccount(parameters)
  const begin = () => api.post('/ppp/job')
  const records = parameters.some((one) => one.name === 'raw-en' && one.value === 0)
  return (
    <div ref={top}>
      <Card title={t('ppp.title')}>
        <p>{t('ppp.what')}</p>
        <details open={!hasAccount(parameters)}>
          <summary>{t('ppp.settings')}</summary>
          <SettingForm
            settings={settings.map((name) => ({ name, label: t(`ppp.setting.${name}`), help: t(`ppp.help.${name}`) }))}
            parameters={parameters}
            save={t(begins ? 'ppp.saveAndBegin' : records ? 'ppp.saveAndRecord' : 'raw.save')}
            afterwards={begins ? begin : undefined}
            also={records ? { 'raw-en': 1 } : {}}
            again={again}
          />
        </details>
        <Job ppp={ppp} days={days} again={again} />
        {ppp.results.map((result) => (
          <Result key={result.id} result={result} again={again} used={used} />
        ))}
        <Series ppp={ppp} />
        <ReportForm again={again} />
      </Card>
    </div>
  )
}

const hasAccount = (parameters: readonly Parameter[]) =>
  parameters.some(({ name, value }) => name === 'ppp-account' && value !== '')

const day_s = 86_400

function Job({ again, days, ppp: { job } }: { ppp: Ppp; days: readonly RawDay[]; again: () => void }) {
  const [from, setFrom] = useState('')
  const begin = async () => {
    await api.post(from === '' ? '/ppp/job' : `/ppp/job?from=${from}&to=${Number(from) + day_s}`)
    again()
    return ''
  }
  const end = async () => {
    await api.remove('/ppp/job')
    again()
    return ''
  }
  if (!job) {
    return (
      <>
        {days.length > 0 && (
          <Field
            label={t('ppp.session')}
            value={from}
            set={setFrom}
            options={[
              { value: '', text: t('ppp.lastDay') },
              ...days.map(({ day, from_s, hours }) => ({
                value: String(from_s),
                text: t('ppp.day', { day: `${day} UTC`, hours: figure(hours, 1, 'h') }),
              })),
            ]}
          />
        )}
        <Action label={t('ppp.begin')} run={begin} isMain />
      </>
    )
  }
  return (
    <>
      <p>
        <Tone tone={job.state === 'failed' ? 'broken' : 'waiting'}>{word('ppp.state', job.state)}</Tone>
      </p>
      {job.text !== '' && <p class="quiet">{sentence(job.text)}</p>}
      <Action label={t(job.state === 'failed' ? 'ppp.clear' : 'ppp.cancel')} run={end} />
    </>
  )
}

function Result({ again, result, used }: { result: PppResult; again: () => void; used: () => void }) {
  const { acc, doubts, drift, epoch, frame, offset } = result.preview
  const isDoubtful = doubts.length > 0
  const apply = async () => {
    await change(`/ppp/results/${result.id}/apply`, post({ force: isDoubtful }))
    used()
    return t('positions.sent')
  }
  const remove = async () => {
    await api.remove(`/ppp/results/${result.id}`)
    again()
    return ''
  }
  return (
    <section aria-label={t('ppp.result', { time: moment(result.t) })}>
      <h3>{t('ppp.result', { time: moment(result.t) })}</h3>
      <FigureList
        rows={[
          [t('ppp.accuracy'), lengthText(Number(acc.toPrecision(2)))],
          [t('ppp.frame'), `${frame} ${epoch.toFixed(2)}`],
          [t('ppp.offset'), offset && enuText(offset)],
          [t('ppp.drift'), drift !== undefined && t('ppp.perYear', { size: figure(drift, 1, 'mm') })],
        ]}
      />
      {doubts.map((doubt) => (
        <p key={doubt}>
          <Tone tone="warning">{word('ppp.doubt', doubt)}</Tone>
        </p>
      ))}
      <div class="actions">
        <Action
          label={t('ppp.use')}
          caution={<p>{t(isDoubtful ? 'ppp.useDoubtful' : 'ppp.useText')}</p>}
          run={apply}
          isMain
        />
        <Action label={t('saved.delete')} run={remove} />
      </div>
    </section>
  )
}

/** From two results on: millimetres, each with its standard deviation in the table. */
function Series({ ppp: { series } }: { ppp: Ppp }) {
  if (series.length < 2) return null
  const times = series.map(({ epoch }) => utcOf(epoch))
  const curve = (part: keyof Enu, colour: string) => ({
    ...{ label: t(`ppp.${part}`), unit: 'mm', digits: 1, colour },
    values: series.map(({ offset }) => offset[part] * 1000),
  })
  const band = (part: keyof Enu, colour: string) => ({
    ...{ label: `± ${t(`ppp.${part}`)}`, unit: 'mm', digits: 1, colour },
    values: series.map(({ sigma }) => sigma[part] * 1000),
  })
  return (
    <Plot
      title={t('ppp.series')}
      times={times}
      curves={[curve('east', 'main'), curve('north', 'gps'), curve('up', 'galileo'), band('up', 'quiet')]}
      kind="clock"
    />
  )
}

/** UTC seconds of a decimal year. */
function utcOf(epoch: number): number {
  const year = Math.floor(epoch)
  const [start, end] = [Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1)]
  return Math.round((start + (epoch - year) * (end - start)) / 1000)
}
