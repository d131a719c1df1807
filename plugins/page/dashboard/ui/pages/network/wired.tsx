/** The cable, the access point and the router: how each is, in a sentence, and the few settings that people change. */

import { Card, FigureList, Tone } from '../../../../../../runtime/lib/page/ui/parts/card.js'
import { at, type Json, listAt, numberAt, textAt } from '../../../../../../runtime/lib/page/ui/station/document.js'
import { duration, t } from '../../i18n/index.js'
import { SettingForm } from '../../parts/forms/setting-form.js'
import type { Parameter } from '../../station/api.js'

export interface NetworkProps {
  readonly document: Json
  readonly parameters: readonly Parameter[]
  readonly again: () => void
}

export function EthernetCard({ document, parameters, again }: NetworkProps) {
  if (at(document, 'eth') === undefined) return null
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
    <Card title={t('network.eth')}>
      <p class="large">
        <Tone tone={state === 'up' ? 'good' : state === 'noAddress' ? 'warning' : 'idle'}>{t(`eth.${state}`)}</Tone>
      </p>
      <FigureList
        rows={[
          [t('net.address'), ip],
          [t('net.mask'), textAt(document, 'eth.mask')],
          [t('net.gateway'), textAt(document, 'eth.gw')],
          [t('net.mac'), textAt(document, 'eth.mac')],
        ]}
      />
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
    </Card>
  )
}

export function AccessPointCard({ document, parameters, again }: NetworkProps) {
  if (at(document, 'wap') === undefined) return null
  const isOn = at(document, 'wap.enabled') === true
  const count = listAt(document, 'wap.sta').length
  const ssid = textAt(document, 'wap.ssid')
  return (
    <Card title={t('network.wap')}>
      <p class="large">
        <Tone tone={isOn ? 'good' : 'idle'}>{t(isOn ? 'wap.on' : 'wap.off', { ssid })}</Tone>
      </p>
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
    </Card>
  )
}

export function RouterCard({ document }: NetworkProps) {
  if (at(document, 'router') === undefined) return null
  const isOnline = textAt(document, 'router.state.link') === 'online'
  const error = textAt(document, 'router.state.error')
  return (
    <Card title={t('network.router')}>
      <p class="large">
        <Tone tone={isOnline ? 'good' : 'warning'}>{t(isOnline ? 'router.up' : 'router.down')}</Tone>
      </p>
      {error !== '' && <p class="trouble">{error}</p>}
      <FigureList
        rows={[
          [t('router.hardware'), textAt(document, 'router.hw')],
          [t('router.serial'), textAt(document, 'router.serial')],
          [t('router.firmware'), textAt(document, 'router.swver')],
          [t('status.uptime'), isOnline && duration(numberAt(document, 'router.state.uptime') ?? 0)],
          [t('router.wifi'), textAt(document, 'router.wap.ssid')],
        ]}
      />
      <a href="#/maintenance">{t('router.restart')}</a>
    </Card>
  )
}
