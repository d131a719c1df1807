/** Loads the panel of a plugin and gives it the station. */
import type { PanelStation, ShowPanel } from 'rtk-base/panel'
import { language } from '../i18n/index.js'
import { api } from './api.js'
import { document$ } from './live.js'
import type { PanelEntry } from './messages.js'

type Failed = (error: unknown) => void

/** @param failed is told what the panel throws, at any time. The returned function ends the panel; it never throws. */
export function openPanel({ plugin, entry, styles }: PanelEntry, element: HTMLElement, failed: Failed): () => void {
  const undo: (() => void)[] = []
  let isOver = false
  const folder = `/ui/panels/${encodeURIComponent(plugin)}/`
  const attempt = (fn: () => void) => {
    try {
      fn()
    } catch (error) {
      failed(error)
    }
  }
  const show = async () => {
    for (const name of styles) undo.push(addStyles(folder + name))
    const module = (await import(folder + entry)) as { show?: ShowPanel }
    if (isOver) return
    if (typeof module.show !== 'function') throw new Error('its module exports no function show')
    const end = module.show(element, stationFor(undo, attempt))
    if (typeof end === 'function') undo.push(end)
  }
  show().catch(failed)
  return () => {
    isOver = true
    for (const one of undo.reverse()) attempt(one)
    element.replaceChildren()
  }
}

function stationFor(undo: (() => void)[], attempt: (fn: () => void) => void): PanelStation {
  return {
    onDocument(fn) {
      const end = document$.subscribe((document) => {
        if (document) attempt(() => fn(document))
      })
      undo.push(end)
      return end
    },
    get(path) {
      if (!/^\/(?!\/)/.test(path)) return Promise.reject(new Error(`${path}: a path of this station begins with one /`))
      return api.get(path)
    },
    change: (values) => api.send('POST', '/change', values),
    act: (name, input) => api.act(name, input),
    language: language.value,
  }
}

function addStyles(href: string): () => void {
  const link = document.createElement('link')
  link.rel = 'stylesheet'
  link.href = href
  document.head.append(link)
  return () => link.remove()
}
