/** The cable, the access point and the router: how each is, in a sentence, and the few settings that people change. */

import { type Value, ValueCard } from '../../../../../../runtime/lib/page/ui/parts/values.js'
import { at, type Json, listAt, textAt } from '../../../../../../runtime/lib/page/ui/station/document.js'
import { duration, type TextKey, t } from '../../i18n/index.js'
import { SettingForm } from '../../parts/forms/setting-form.js'
import type { Parameter } from '../../station/api.js'

export interface NetworkProps {
  readonly document: Json
  readonly parameters: readonly Parameter[]
  readonly again: () => Promise<void>
}

const ethernet: readonly Value<TextKey>[] = [
  ['net.address', 'eth.ip'],
  ['net.mask', 'eth.mask'],
  ['net.gateway', 'eth.gw'],
  ['net.mac', 'eth.mac'],
]

export function EthernetCard({ document, parameters, again }: NetworkProps) {
  const ip = textAt(document, 'eth.ip')
  const state =
    at(document, 'eth.enabled') === false
      ? 'off'
      : at(document, 'eth.cable') === false
        ? 'unplugged'
        : ip
          ? 'up'
          : 'noAddress'
  return (
    <ValueCard
      document={document}
      block="eth"
      title={t('network.eth')}
      state={[state === 'up' ? 'good' : state === 'noAddress' ? 'warning' : 'idle', t(`eth.${state}`)]}
      of={ethernet}
    >
      {parameters.some(({ name }) => name === 'eth-address') && (
        <details>
          <summary>{t('eth.change')}</summary>
          <p>{t('eth.changeText')}</p>
          <SettingForm
            parameters={parameters}
            settings={[
              { name: 'eth-address', label: t('eth.fixed'), help: t('eth.fixedHelp') },
              { name: 'eth-gateway', label: t('eth.router'), help: t('eth.routerHelp') },
              { name: 'eth-dns', label: t('eth.dns'), help: t('eth.dnsHelp') },
            ]}
            save={t('net.save')}
            again={again}
          />
          <p class="quiet">{t('eth.trial')}</p>
        </details>
      )}
    </ValueCard>
  )
}

export function AccessPointCard({ document, parameters, again }: NetworkProps) {
  const isOn = at(document, 'wap.enabled') === true
  const count = listAt(document, 'wap.sta').length
  const ssid = textAt(document, 'wap.ssid')
  return (
    <ValueCard
      document={document}
      block="wap"
      title={t('network.wap')}
      state={[isOn ? 'good' : 'idle', t(isOn ? 'wap.on' : 'wap.off', { ssid })]}
    >
      <p>{t(isOn ? 'wap.onText' : 'wap.offText', { count })}</p>
      <details>
        <summary>{t('guide.change')}</summary>
        <SettingForm
          parameters={parameters}
          settings={[
            { name: 'wap-en', label: t('wap.enabled') },
            { name: 'wap-ssid', label: t('wap.name') },
            { name: 'wap-pswd', label: t('wap.password'), help: t('wap.passwordHelp') },
          ]}
          save={t('net.save')}
          again={again}
        />
      </details>
    </ValueCard>
  )
}

const isOnline = (document: Json) => textAt(document, 'router.state.link') === 'online'
const router: readonly Value<TextKey>[] = [
  ['router.hardware', 'router.hw'],
  ['router.serial', 'router.serial'],
  ['router.firmware', 'router.swver'],
  ['status.uptime', 'router.state.uptime', (uptime, document) => isOnline(document) && duration(Number(uptime))],
  ['router.wifi', 'router.wap.ssid'],
]

export const RouterCard = ({ document }: NetworkProps) => (
  <ValueCard
    document={document}
    block="router"
    title={t('network.router')}
    state={isOnline(document) ? ['good', t('router.up')] : ['warning', t('router.down')]}
    trouble={textAt(document, 'router.state.error')}
    of={router}
  >
    <a href="#/maintenance">{t('router.restart')}</a>
  </ValueCard>
)
