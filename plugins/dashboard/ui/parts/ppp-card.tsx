/** A position from a PPP service: asked for, waited for, looked at, used. */
import { useEffect } from 'preact/hooks'
import { figure, moment, t, word } from '../i18n/index.js'
import { enuText, lengthText } from '../i18n/lengths.js'
import { sentence } from '../i18n/plugin-texts.js'
import { api, type ChangeAnswer, type Parameter } from '../station/api.js'
import { Action } from './action.js'
import { Card, FigureList, Tone } from './card.js'
import { SettingForm } from './forms/setting-form.js'
import { useLoaded } from './loaded.js'

interface Ppp {
  readonly job?: { readonly state: string; readonly text: string; readonly next: number }
  readonly results: readonly PppResult[]
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
    readonly offset?: { readonly east: number; readonly north: number; readonly up: number }
  }
}

const load = async () => {
  const [ppp, parameters] = await Promise.all([api.get<Ppp>('/ppp'), api.parameters()])
  return { ppp, parameters }
}
const settings = ['ppp-account', 'ppp-frame', 'ppp-epoch', 'ppp-plate'] as const
const again_ms = 10_000

/** Nothing on a station without the plugin. @param used after a position was applied */
export function PppCard({ used }: { used: () => void }) {
  const { again, value } = useLoaded(load)
  const isBusy = value?.ppp.job !== undefined && value.ppp.job.state !== 'failed'
  useEffect(() => {
    if (!isBusy) return
    const timer = setInterval(again, again_ms)
    return () => clearInterval(timer)
  }, [isBusy, again])
  if (!value) return null
  const { parameters, ppp } = value
  return (
    <Card title={t('ppp.title')}>
      <p>{t('ppp.what')}</p>
      <details open={!hasAccount(parameters)}>
        <summary>{t('ppp.settings')}</summary>
        <SettingForm
          settings={settings.map((name) => ({ name, label: t(`ppp.setting.${name}`), help: t(`ppp.help.${name}`) }))}
          parameters={parameters}
          save={t('raw.save')}
          again={again}
        />
      </details>
      <Job ppp={ppp} again={again} />
      {ppp.results.map((result) => (
        <Result key={result.id} result={result} again={again} used={used} />
      ))}
    </Card>
  )
}

const hasAccount = (parameters: readonly Parameter[]) =>
  parameters.some(({ name, value }) => name === 'ppp-account' && value !== '')

function Job({ ppp: { job }, again }: { ppp: Ppp; again: () => void }) {
  const begin = async () => {
    await api.post('/ppp/job')
    again()
    return ''
  }
  const end = async () => {
    await api.remove('/ppp/job')
    again()
    return ''
  }
  if (!job) return <Action label={t('ppp.begin')} run={begin} isMain />
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
    const answer = await api.send<ChangeAnswer>('POST', `/ppp/results/${result.id}/apply`, { force: isDoubtful })
    if (answer.result === 'failed') throw new Error(answer.errors?.map(({ message }) => message).join('; '))
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
