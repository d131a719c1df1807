import { t } from '../../i18n/index.js'
import { networksOf } from '../../model/guide.js'
import type { Parameter } from '../../station/api.js'
import type { Json } from '../../station/document.js'
import type { Session } from '../../station/session.js'
import type { Loaded } from '../loaded.js'
import { Tone } from '../tone.js'
import { StepFields } from './step-fields.js'

const names = /^(eth-en|wap-(en|ssid|pswd)|wifi-reg-cc|sta-(ssid|pswd)|mob-(apn|user|pswd))$/

/** How the station is reached, and who may change it. */
export function NetworkStep(props: { document: Json; parameters: Loaded<Parameter[]>; session: Session | undefined }) {
  const { document, parameters, session } = props
  const networks = networksOf(document)
  return (
    <>
      {networks.length === 0 && <p>{t('guide.noNetwork')}</p>}
      <ul class="plain">
        {networks.map(({ network, isUp, text }) => (
          <li key={network}>
            {t(`network.${network}`)} {text}{' '}
            <Tone tone={isUp ? 'good' : 'idle'}>{t(isUp ? 'guide.state.on' : 'guide.state.off')}</Tone>
          </li>
        ))}
      </ul>
      <a href="#/network">{t('page.network')}</a>
      <StepFields parameters={parameters} names={names} />
      <h3>{t('guide.token')}</h3>
      {session?.login === true && (
        <p>
          <Tone tone="good">{t('guide.tokenSet')}</Tone>
        </p>
      )}
      <p>{t('guide.tokenHow')}</p>
    </>
  )
}
