/** Where the code of a page is. All but the first are loaded when one of them is opened. */
import type { FunctionComponent } from 'preact'
import { StatusPage } from './status.js'

type Load = () => Promise<FunctionComponent> | FunctionComponent

const further = () => import('./further.js')

const loads: Readonly<Record<string, Load>> = {
  status: () => StatusPage,
  timeline: async () => (await further()).TimelinePage,
  errors: async () => (await further()).ErrorsPage,
  guide: async () => (await further()).GuidePage,
  positions: async () => (await further()).PositionsPage,
  survey: async () => (await further()).SurveyPage,
  sky: async () => (await further()).SkyPage,
  links: async () => (await further()).LinksPage,
  rovers: async () => (await further()).RoversPage,
  rtcm: async () => (await further()).RtcmPage,
  network: async () => (await further()).NetworkPage,
  access: async () => (await further()).AccessPage,
  update: async () => (await further()).UpdatePage,
  maintenance: async () => (await further()).MaintenancePage,
  settings: async () => (await further()).SettingsPage,
  logs: async () => (await further()).LogsPage,
  expert: async () => (await further()).ExpertPage,
  procedure: async () => (await further()).ProcedurePage,
  commands: async () => (await further()).CommandsPage,
  plugins: async () => (await further()).PluginsPage,
  more: async () => (await further()).MorePage,
}

const panel: Load = async () => (await import('./panel.js')).PanelPage

/** Undefined: there is no such page. */
export const loadOf = (path: string): Load | undefined => (path.startsWith('panel/') ? panel : loads[path])
