import { t } from '../../i18n/index.js'
import { type OutputFact, outputsOf } from '../../model/guide.js'
import type { Parameter } from '../../station/api.js'
import type { Json } from '../../station/document.js'
import type { Loaded } from '../loaded.js'
import { Tone, type ToneName } from '../tone.js'
import { StepFields } from './step-fields.js'

const tones: Readonly<Record<OutputFact['state'], ToneName>> = { on: 'good', down: 'broken', off: 'idle' }
const names = /^(udp-|ntrip-caster-|ntrip-server$|mqtt-(en|host|port)$|rtcm-tcp-|rtcm-serial)/

/** By which ways rovers get the corrections. */
export function OutputsStep({ document, parameters }: { document: Json; parameters: Loaded<Parameter[]> }) {
  return (
    <>
      <p>{t('guide.outputs')}</p>
      <ul class="plain">
        {outputsOf(document).map(({ output, state }) => (
          <li key={output}>
            {t(`guide.output.${output}`)} <Tone tone={tones[state]}>{t(`guide.state.${state}`)}</Tone>
          </li>
        ))}
      </ul>
      <a href="#/links">{t('page.links')}</a>
      <StepFields parameters={parameters} names={names} />
    </>
  )
}
