/** Every text of the page. A language is one such file; the compiler says what it lacks. */
export const en = {
  'app.skip': 'Skip to the content',
  'app.menu': 'Pages',
  'app.noContact': 'No contact for {s} s. What is shown is old.',
  'app.connecting': 'Connecting to the station…',
  'app.outdated': 'The station runs another version now.',
  'app.reload': 'Reload the page',
  'app.theme': 'Colours',
  'app.theme.system': 'As the device',
  'app.theme.light': 'Light',
  'app.theme.dark': 'Dark',
  'app.language': 'Language',
  'app.failed': 'This page could not be shown: {why}',
  'app.pageMissing': 'There is no such page.',

  'login.title': 'Login',
  'login.token': 'Token of the station',
  'login.show': 'Show what I type',
  'login.submit': 'Log in',
  'login.logout': 'Log out',
  'login.viewer': 'You may look, and change nothing.',

  'verdict.fit': 'Fit to serve',
  'verdict.degraded': 'Serves, with a fault',
  'verdict.unfit': 'Not fit',
  'verdict.unknown': 'Not known',
  'verdict.for': 'for {time}',

  'page.status': 'Status',
  'page.survey': 'Survey-in',
  'page.sky': 'Sky',
  'page.rtcm': 'RTCM',
  'page.links': 'Rovers and links',
  'page.procedure': 'Procedure',
  'page.errors': 'Errors',
  'page.positions': 'Positions',
  'page.network': 'Network',
  'page.settings': 'Settings',
  'page.commands': 'Commands',
  'page.update': 'Update',
  'page.logs': 'Logs',
  'page.plugins': 'Plugins',
  'page.start': 'First steps',
} as const

export type TextKey = keyof typeof en
export type Texts = Readonly<Record<TextKey, string>>
