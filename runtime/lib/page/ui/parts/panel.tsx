/** A panel of the station's page that is made of these parts. */

import { signal } from '@preact/signals'
import { type FunctionComponent, render } from 'preact'
import type { PanelStation, ShowPanel } from 'rtk-base/panel'
import { isReadOnly, sessions } from '../http.js'
import { type Language, showLanguage } from '../i18n.js'
import type { Json } from '../station/document.js'

export interface PanelProps {
  readonly station: PanelStation
  /** The status document; undefined until the first one is there. */
  readonly document: Json | undefined
}

/** The `show` of a panel. Its parts have the language of the page and the rights of its reader. */
export const panelOf =
  (Panel: FunctionComponent<PanelProps>): ShowPanel =>
  (element, station) => {
    const document = signal<Json>()
    const end = station.onDocument((now) => {
      document.value = now
    })
    const Shown = () => <Panel station={station} document={document.value} />
    void sessions.session().then(
      ({ login, role }) => {
        isReadOnly.value = login && role === 'viewer'
      },
      () => {},
    )
    void showLanguage(station.language as Language).then(() => render(<Shown />, element))
    return () => {
      end()
      render(null, element)
    }
  }
