import type { ComponentChildren } from 'preact'
import { chainOf } from '../../../../../../runtime/lib/page/ui/station/chain.js'
import { type Json, textAt } from '../../../../../../runtime/lib/page/ui/station/document.js'
import { notation, t, word } from '../../i18n/index.js'
import { castersOf, outputRows } from '../../model/outputs.js'
import type { Task } from '../../model/sections.js'
import { type Parameter, session } from '../../station/api.js'
import { document$, hello } from '../../station/live.js'

/** What the settings of each task make of the station now, in parts; none: nothing is known of it. */
const states: Readonly<Record<Task, (document: Json, parameters: readonly Parameter[]) => readonly string[]>> = {
  position: (document) =>
    chainOf(document)
      .filter(({ link }) => link === 'reference')
      .flatMap(({ facts }) => facts.map((fact) => notation(word('fact', fact)))),
  out: (document) => {
    const wanted = outputRows(document).filter(({ state }) => state !== 'off' && state !== 'unset')
    const texts = wanted.map(({ output, state }) => {
      if (output === 'server') return t('outputs.casters', castersOf(document))
      const name = t(`guide.output.${output}`)
      return state === 'on' ? name : `${name}: ${t(state === 'waiting' ? 'outputs.waiting' : 'guide.state.down')}`
    })
    return texts.length > 0 ? texts : [t('task.out.none')]
  },
  in: (document) => {
    const state = textAt(document, 'ntrip.client.state')
    if (state === '' || state === 'off') return [t('task.in.none')]
    return [textAt(document, 'ntrip.client.host'), word('links.push', state)]
  },
  network: (document) =>
    [
      textAt(document, 'eth.ip') && t('task.network.cable', { ip: textAt(document, 'eth.ip') }),
      textAt(document, 'sta.ip') && t('task.network.wifi', { ip: textAt(document, 'sta.ip') }),
      textAt(document, 'modem.state.data') === 'connected' ? textAt(document, 'modem.state.operator') : '',
      textAt(document, 'wap.bssid') && t('wap.enabled'),
    ].filter((text) => text !== ''),
  alerts: (_document, parameters) => {
    const of = (name: string) => parameters.find((one) => one.name === name)
    const mails = of('alerts-mail-to')?.value
    const ways = [
      Array.isArray(mails) && mails.length > 0 ? t('task.alerts.mail') : '',
      of('alerts-hooks')?.set ? t('task.alerts.hooks') : '',
    ].filter((text) => text !== '')
    return ways.length > 0 ? ways : [t('task.alerts.none')]
  },
  updates: () => [`rtk-base ${hello.value?.version ?? ''}`],
  access: () => [t(session.value?.login === true ? 'access.closed' : 'access.open')],
  expert: () => [],
}

/** The settings of a task, folded under its name and what is the case now. */
export function TaskFold(props: {
  task: Task
  /** All of them, also those that a search hides. */
  parameters: readonly Parameter[]
  isOpen: boolean
  children: ComponentChildren
}) {
  const { children, isOpen, parameters, task } = props
  const document = document$.value
  const state = document ? states[task](document, parameters) : []
  return (
    <details class="card task" open={isOpen}>
      <summary>
        <h2>{t(`task.${task}`)}</h2>
        <span class="quiet">{state.join(' · ')}</span>
      </summary>
      {children}
    </details>
  )
}
