import { notation, t, word } from '../i18n/index.js'
import { type ChainLink, chainOf, firstBroken, type LinkState } from '../model/chain.js'
import { goesOut } from '../model/gnss/rtcm.js'
import { isNew } from '../model/set-up.js'
import { Card } from '../parts/card.js'
import { FaultList } from '../parts/faults.js'
import { Icon } from '../parts/icon.js'
import { Later } from '../parts/loaded.js'
import { errorsOf, type Json } from '../station/document.js'
import { document$, verdict } from '../station/live.js'

const signs: Record<LinkState, string> = { good: '✓', warning: '!', broken: '✕', unknown: '–' }
const pageOf: Record<ChainLink, string> = {
  antenna: 'sky',
  receiver: 'sky',
  reference: 'positions',
  gate: 'timeline',
  outputs: 'links',
  rovers: 'rovers',
}

const loadCards = async () => (await import('../parts/overview-cards.js')).OverviewCards

/** The first screen: the way from the antenna to the rovers, what is wrong, the sky, the rovers, the day. The verdict stands above. */
export function StatusPage() {
  const document = document$.value
  if (!document) return <p>{t('app.connecting')}</p>
  return (
    <>
      {isNew(document) && (
        <Card title={t('guide.new')}>
          <p>{t('guide.newText')}</p>
          <a class="button main" href="#/guide">
            {t('guide.begin')}
          </a>
        </Card>
      )}
      <Chain document={document} />
      <Faults document={document} />
      <Later load={loadCards} />
    </>
  )
}

function Faults({ document }: { document: Json }) {
  // The reason of the verdict stands above already.
  const errors = errorsOf(document).filter(({ text }) => !text.startsWith(verdict.value?.why ?? text))
  if (errors.length === 0) return null
  return (
    <Card title={t('status.errors', { count: errors.length })}>
      <FaultList errors={errors} document={document} />
    </Card>
  )
}

function Chain({ document }: { document: Json }) {
  const chain = chainOf(document)
  const broken = firstBroken(chain)
  let isBehind = false
  return (
    <Card title={t('status.chain')}>
      <ol class={`chain${goesOut(document) ? ' chain-flows' : ''}`}>
        {chain.map(({ link, state, facts }) => {
          const shown = isBehind ? 'unknown' : state
          if (link === broken) isBehind = true
          return (
            <li key={link} class={`chain-${shown}`}>
              <a href={`#/${pageOf[link]}`}>
                <span class="chain-mark">
                  <Icon name={link} />
                  <span class="chain-sign" aria-hidden="true">
                    {signs[shown]}
                  </span>
                </span>
                <span>
                  <strong>{t(`chain.${link}`)}</strong>
                  <span class="hidden">: {t(`chain.state.${shown}`)}</span>
                  <br />
                  <span class="chain-fact">{notation(facts.map((fact) => word('fact', fact)).join(' · '))}</span>
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
