/** Finding of the station for each step of the guide that is done: nobody has to believe a tick. */

import { type Json, numberAt, textAt } from '../../../../../runtime/lib/page/ui/station/document.js'
import { roversOf } from '../../../../../runtime/lib/page/ui/station/links.js'
import { outputsOf } from '../../../../../runtime/lib/page/ui/station/outputs.js'
import { referenceAccuracy } from '../../../../../runtime/lib/page/ui/station/set-up.js'
import { figure, t } from '../i18n/index.js'
import { type GuideStep, networksOf } from '../model/guide.js'

const looks: Readonly<Record<GuideStep, (document: Json) => string>> = {
  access: (document) => [textAt(document, 'base.name'), t('guide.found.password')].filter(Boolean).join(' · '),
  antenna: (document) => t('guide.found.satellites', { count: numberAt(document, 'gnss.state.satuse') ?? 0 }),
  position: (document) => {
    const acc_m = referenceAccuracy(document)
    return acc_m === undefined ? '' : `± ${figure(acc_m, acc_m < 1 ? 2 : 1, 'm')}`
  },
  outputs: (document) => {
    const rovers = roversOf(document).length
    const on = outputsOf(document)
      .filter(({ state }) => state === 'on')
      .map(({ output }) => t(`guide.output.${output}`))
    const connected = t(
      rovers === 0 ? 'guide.found.noRover' : rovers === 1 ? 'guide.found.rover' : 'guide.found.rovers',
      {
        count: rovers,
      },
    )
    return [...on, connected].join(' · ')
  },
  network: (document) =>
    networksOf(document)
      .filter(({ isUp }) => isUp)
      .map(({ network, text }) => `${t(`network.${network}`)} ${text}`.trim())
      .join(' · '),
}

/** '' where there is nothing to tell. */
export const foundText = (step: GuideStep, document: Json): string => looks[step](document)
