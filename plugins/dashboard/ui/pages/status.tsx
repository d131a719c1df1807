import { duration, figure, moment, said, type TextKey, t, word } from '../i18n/index.js'
import { type ChainLink, chainOf, firstBroken, type LinkState } from '../model/chain.js'
import { isNew } from '../model/set-up.js'
import { Card } from '../parts/card.js'
import { Later } from '../parts/loaded.js'
import { type Json, listAt, numberAt, type StationError, textAt } from '../station/document.js'
import { document$, verdict } from '../station/live.js'

const marks: Record<LinkState, string> = { good: '✓', warning: '!', broken: '✕', unknown: '–' }
const pageOf: Record<ChainLink, string> = {
  antenna: 'sky',
  receiver: 'procedure',
  reference: 'positions',
  gate: 'procedure',
  outputs: 'links',
  rovers: 'links',
}

const loadDay = async () => (await import('../parts/plots/day-card.js')).DayCard

/** The verdict in full, and the chain from the antenna to the rovers. */
export function StatusPage() {
  const document = document$.value
  if (!document) return <p>{t('app.connecting')}</p>
  return (
    <>
      {isNew(document) && (
        <Card title={t('guide.new')}>
          <p>{t('guide.newText')}</p>
          <a href="#/guide">{t('guide.begin')}</a>
        </Card>
      )}
      <Card title={t('status.verdict')}>
        <p class="large">{verdict.value && said(verdict.value.why)}</p>
        {verdict.value?.advice && <p>{said(verdict.value.advice)}</p>}
      </Card>
      <Chain document={document} />
      <Figures document={document} />
      <Troubles document={document} />
      <Later load={loadDay} />
    </>
  )
}

function Chain({ document }: { document: Json }) {
  const chain = chainOf(document)
  const broken = firstBroken(chain)
  let isBehind = false
  return (
    <Card title={t('status.chain')}>
      <ol class="chain">
        {chain.map(({ link, state, facts }) => {
          const shown = isBehind ? 'unknown' : state
          if (link === broken) isBehind = true
          return (
            <li key={link} class={`chain-${shown}`}>
              <a href={`#/${pageOf[link]}`}>
                <span class="chain-mark" aria-hidden="true">
                  {marks[shown]}
                </span>
                <span>
                  <strong>{t(`chain.${link}`)}</strong>
                  <span class="hidden">: {t(`chain.state.${shown}`)}</span>
                  <br />
                  <span class="quiet">{facts.map((fact) => word('fact', fact)).join(' · ')}</span>
                </span>
              </a>
              {link === broken && <p class="trouble">{t('chain.here')}</p>}
            </li>
          )
        })}
      </ol>
    </Card>
  )
}

function Figures({ document }: { document: Json }) {
  const at = (name: string) => (numberAt(document, 'gnss.pos.t') ? numberAt(document, `gnss.pos.${name}`) : undefined)
  const rows: [TextKey, string][] = [
    [
      'status.satellites',
      `${figure(numberAt(document, 'gnss.state.satuse'), 0)} / ${figure(numberAt(document, 'gnss.state.satvis'), 0)}`,
    ],
    ['status.fix', word('fact', textAt(document, 'gnss.state.gps_fix'))],
    [
      'status.position',
      [at('lat'), at('lon')].map((angle) => (angle === undefined ? '–' : `${angle.toFixed(7)}°`)).join(', '),
    ],
    ['status.height', figure(at('alt'), 2, 'm')],
    ['status.distance', figure(numberAt(document, 'gnss.pos.delta') || undefined, 3, 'm')],
    ['status.rovers', figure(listAt(document, 'gnss.rtcm.subscribers').length, 0)],
    ['status.time', moment(numberAt(document, 'gnss.state.time') ?? 0)],
    ['status.uptime', duration(numberAt(document, 'esp.state.uptime') ?? 0)],
  ]
  return (
    <Card title={t('status.figures')}>
      <dl class="figures">
        {rows.map(([key, value]) => (
          <div key={key}>
            <dt>{t(key)}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}

function Troubles({ document }: { document: Json }) {
  const errors = listAt<StationError>(document, 'base.state.errors')
  if (errors.length === 0) return null
  return (
    <Card title={t('status.errors', { count: errors.length })}>
      <ul class="plain">
        {errors.map(({ code, text }) => (
          <li key={code}>{text}</li>
        ))}
      </ul>
      <a href="#/errors">{t('page.errors')}</a>
    </Card>
  )
}
