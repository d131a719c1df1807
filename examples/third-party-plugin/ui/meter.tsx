/** What the panel and the page show: the counts, the last minute as bars, and what a person can do about them. */
import { useEffect, useState } from 'preact/hooks'
import { Action, change, Field, FigureList, Form, figure, json, post, useLoaded, useSubmit } from 'rtk-base/page/ui'
import type { RecentEpochs, Totals } from '../lib/answers.js'
import './meter.css'
import { t } from './texts.js'

const again_ms = 5_000
/** Of a bar, and where the scale ends. */
const width = 10
const mostSatellites = 60

const load = () => json<RecentEpochs>('/epoch-meter')
const reset = async () => (await json<{ text: string }>('/actions/epoch-meter-reset', post({}))).text

/** @param props.counts as the status document has them; undefined until it is there */
export function Meter({ counts }: { counts: (Totals & { min_satellites: number }) | undefined }) {
  const { again, value: epochs = [] } = useLoaded(load)
  useEffect(() => {
    const timer = setInterval(again, again_ms)
    return () => clearInterval(timer)
  }, [again])
  return (
    <>
      <FigureList
        rows={[
          [t('epochs'), figure(counts?.epochs, 0)],
          [t('poor'), figure(counts?.poor, 0)],
          [t('frames'), figure(counts?.frames, 0)],
          [t('bytes'), figure(counts?.bytes, 0)],
        ]}
      />
      <Bars epochs={epochs} />
      {counts && <Least stored={counts.min_satellites} />}
      <Action label={t('reset')} caution={<p>{t('resetText')}</p>} run={reset} />
    </>
  )
}

const Bars = ({ epochs }: { epochs: RecentEpochs }) => (
  <svg
    class="epoch-meter"
    viewBox={`0 0 ${60 * width} ${mostSatellites}`}
    preserveAspectRatio="none"
    role="img"
    aria-label={t('bars', { count: epochs.length, now: epochs.at(-1)?.satellites ?? 0 })}
  >
    {epochs.map(({ complete, satellites }, n) => (
      <rect
        key={n}
        class={complete ? '' : 'incomplete'}
        x={n * width}
        y={mostSatellites - Math.min(satellites, mostSatellites)}
        width={width - 2}
        height={Math.min(satellites, mostSatellites)}
      />
    ))}
  </svg>
)

function Least({ stored }: { stored: number }) {
  const [typed, setTyped] = useState<string>()
  const text = typed ?? String(stored)
  const isWrong = !/^\d{1,3}$/.test(text) || Number(text) > 200
  const submission = useSubmit(async () => {
    await change('/change', post({ 'epoch-meter-min-satellites': Number(text) }))
    setTyped(undefined)
    return t('saved')
  })
  return (
    <Form submission={submission} label={t('save')} isWrong={isWrong} isDisabled={typed === undefined}>
      <Field
        kind="whole"
        label={t('least')}
        help={t('leastHelp')}
        value={text}
        set={setTyped}
        trouble={isWrong ? t('leastWrong') : ''}
      />
    </Form>
  )
}
