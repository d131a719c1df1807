import type { ComponentChildren } from 'preact'
import { notation, t, word } from '../i18n.js'
import { Card } from '../parts/card.js'
import { Icon } from '../parts/icon.js'
import { type ChainLink, chainOf, firstBroken, type LinkState } from './chain.js'
import type { Json } from './document.js'
import { goesOut } from './rtcm.js'

const signs: Record<LinkState, string> = { good: '✓', warning: '!', broken: '✕', unknown: '–' }
/** The way from the antenna to the rovers, with the first broken link. @param props.linkOf where a link leads; left out: nowhere */
export function Chain({ document, linkOf }: { document: Json; linkOf?: (link: ChainLink) => string }) {
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
              <Place to={linkOf?.(link)}>
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
              </Place>
              {link === broken && <p class="trouble">{t('chain.here')}</p>}
            </li>
          )
        })}
      </ol>
    </Card>
  )
}

const Place = ({ to, children }: { to: string | undefined; children: ComponentChildren }) =>
  to === undefined ? <span class="chain-place">{children}</span> : <a href={to}>{children}</a>
