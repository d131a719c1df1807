import type { SharedKey } from '../../../../../runtime/lib/page/ui/texts/en.js'
import type { pages } from './en-pages.js'

/** Texts of the page that the first screen may need. Each other language is one whole file; the compiler reports missing keys. */
export const en = {
  'app.noContact': 'No contact for {s} s. The values shown are outdated.',
  'app.connecting': 'Connecting to the station…',
  'group.overview': 'Overview',
  'group.position': 'Position',
  'group.outputs': 'Outputs',
  'group.device': 'Device',
  'page.timeline': 'Timeline',
  'page.rovers': 'Rovers',
  'page.access': 'Access',
  'page.maintenance': 'Maintenance',
  'page.expert': 'Expert',
  'verdict.more': 'What to do →',
  'verdict.exact': 'The position is known to ±{acc}.',
  'verdict.shifted': 'The position is known to ±{acc}: rovers agree with each other, but on the map they are shifted.',
  'verdict.makeExact': 'Make it exact →',
  'verdict.override': 'A person confirmed this position on {time} ({by}). The antenna seemed to be {distance} away.',
  'search.open': 'Search',
  'moved.notMoved': 'It is where it was',
  'moved.survey': 'Survey in again',
  'moved.takeBack': 'Take the confirmation back',
  'moved.takeBackWarning':
    'The station then judges by itself whether the antenna is at its reference. Corrections stop if it is not.',
  'moved.takenBack': 'Taken back. The position is checked.',
  'moved.enter': 'Enter a position',
  'moved.error': 'The antenna is not at its reference position',
  'moved.where': 'Is the antenna where it was, or has it moved?',
  'moved.returns': 'Corrections resume by themselves when positions show for 10 min that the antenna is back.',
  'moved.height': 'The entered height is wrong: enter the height above the ellipsoid.',
  'moved.size': 'The station measures {distance} to its reference position.',
  'moved.noSize': 'The station does not know how far the antenna is from its reference position.',
  'moved.notMovedWarning':
    'If the antenna really moved, every rover will be wrong by that much. Your answer stays visible until a new position is set.',
  'moved.surveyWarning':
    'No corrections are sent until the survey-in is complete. Rovers then work with the new position.',
  'access.viewerText':
    'Whoever logs in with this password sees everything except the log and passwords, and cannot change anything.',

  // Words of the station.
  'page.status': 'Status',
  'page.survey': 'Survey-in',
  'page.sky': 'Sky',
  'page.rtcm': 'RTCM',
  'page.links': 'Connections',
  'page.procedure': 'Procedure',
  'page.errors': 'Errors',
  'page.positions': 'Positions',
  'page.network': 'Network',
  'page.settings': 'Settings',
  'page.commands': 'Commands',
  'page.update': 'Update',
  'page.logs': 'Logs',
  'page.plugins': 'Plugins',
  'status.errors': 'Errors ({count})',
  'errors.mend': 'Open the page {page}',
  'errors.setting': 'Open the setting',
  'trial.text': 'Changed on trial: {names}. Does everything still work? Without an answer the old values return.',
  'trial.keep': 'Keep',
  'trial.title': 'Change on trial',
  'trial.left': '{s} s left to keep it',
  'trial.undone': 'The last change was taken back.',
  'trial.read': 'Close',
  'trial.undo': 'Undo',

  // Receiver and reference: survey, sky, rtcm, links, procedure, positions.
  'survey.missing':
    'This station runs no survey-in: its receiver is configured elsewhere, or the plugin survey-in is not running.',
  'survey.unvouched':
    'The position is stated to {acc}, because the position of the other base is not declared as trusted.',
  'survey.outOfReach':
    'The required accuracy of {target} cannot be reached without corrections: the stated accuracy never falls below {least} m. Increase gnss-survey-accuracy, or use corrections.',
  'survey.good.own':
    'Rovers agree with each other to centimetres, but not with the map. For the map, enter a known position or use corrections.',
  'survey.scatterText':
    '{count} positions around their mean, {reach} to each side, with a circle of the stated accuracy {acc}',
  'survey.assume.sigma':
    '3D, 1 sigma: two times out of three the error is smaller, and it is rarely three times as large. The accuracy is a model, not a measurement. It makes these assumptions:',
  'survey.assume.floor':
    'Without corrections it is never better than {least} m, because ionospheric errors do not average out.',
  'survey.assume.time':
    'Errors stay similar for a quarter of an hour or longer, so averaging many epochs helps little.',
  'survey.assume.phase':
    'The position is that of the antenna phase centre, in WGS84. A position in ETRS89 may differ by 0.9 m.',
  'survey.assume.remote':
    'It is relative to the other base ({remote}, {km} km away): an error of that base is also an error of this position.',
  'survey.assume.vouch':
    'Unless the other base is listed in the option trustedSources, at least 1 m is stated: its position cannot be verified more precisely.',
  'sky.plotText':
    'Sky plot with {count} satellites, north up. Arrow keys select a satellite. The table below has all values.',
  'sky.shadingHint':
    'Mean signal strength by direction over about a day. Dark areas at the rim are buildings, trees or the mast.',
  'links.outputs': 'Outbound connections',
  'outputs.offMqtt':
    'Everything that reaches this station over MQTT loses it: corrections, remote control, monitoring.',
  'positions.enterHint':
    'For a previously measured point: exact coordinates of the antenna. Any error affects every rover.',
  'positions.textHelp':
    'Paste it in any notation: latitude, longitude and height (degrees, or degrees, minutes and seconds), ECEF X Y Z, an NMEA GGA line, or a CSRS-PPP report (.sum).',
  'positions.far':
    'This is {distance} from where the receiver is. Check the numbers and their signs. The station sends no corrections with it until you confirm that the antenna is there.',
  'positions.willUse':
    'RTCM stops until the start-up check has compared it with the receiver’s position. Rovers then get the new position.',
  'positions.by': 'Set by',
  'positions.by.survey': 'the station itself',
  'positions.by.http': 'this page, or HTTP',
  'positions.by.mqtt': 'MQTT',
  'positions.by.console': 'the console',
  'positions.by.plugin': 'a plugin',
  'update.about.trial':
    'The new version runs. It is kept if everything that worked before works again; otherwise the old one returns.',
  // The set-up guide, addresses, signals.
  'modem.scanWarning':
    'The mobile connection is lost for about 200 s. If this page comes through it, it is gone for so long.',
  'page.guide': 'Set-up guide',
  'guide.new': 'This station is not set up yet',
  'guide.newText':
    'It has no reference position yet, and no client gets corrections. The guide leads from the antenna to the first rover.',
  'guide.begin': 'Start set-up guide',
  'guide.intro':
    'Five steps from the box to a working base. The station tracks your progress, so you can leave and come back at any time.',
  'guide.antenna':
    'Mount the antenna firmly with a view of the whole sky, and never move it again. A roof or a mast is good, a window is not.',
  'guide.survey':
    'Without a known point the station surveys its own position. Minutes give metres. Corrections from another base, or an entered position, give centimetres.',
  'guide.missing.starting':
    'The station is starting. Without a reference, a survey-in starts automatically: wait up to 2 minutes.',
  'guide.advice.metres':
    'Better: rovers agree with each other, but are shifted by metres on the map. A day of raw data and a PPP service give centimetres (level 3). Corrections from another base give centimetres from that base (level 2).',
  'guide.advice.relative':
    'Better: the position is as good as that of the other base, and its frame is not known. Enter the frame, or determine the position with a PPP service (level 3).',
  'guide.advice.unrated':
    'Better: enter the accuracy and the frame of the entered position, or determine it with a PPP service (level 3).',
  'guide.advice.moreOutputs':
    'Better: rovers outside the local network get no corrections yet. Switch on the caster, a push or MQTT.',
  'page.more': 'More',
  // The cards below the chain.
  'status.signal': 'Mean signal',
  'status.toSky': 'Show the sky',
  'map.title': 'Map',
  'map.none': 'The map appears when the station has a position.',
  'status.satellites': 'Satellites used / seen',
  'status.distance': 'Distance to the reference',
  'plot.young': '{title}: no values yet. The station records one every 10 s.',
  'day.title': 'Last 24 hours',
  'day.young': 'Last {time}',
  'day.corrections': 'Corrections',
  'day.fitness': 'Working',
  'day.satellites': 'Satellites',
  'day.used': 'used',
  'day.seen': 'in view',
  'day.cno': 'Signal strength (C/N0) of the signals in use',
  'timeline.key.good': 'Corrections sent',
  'timeline.key.planned': 'Start, stop, check or survey-in',
  'timeline.key.limited': 'Held back, or gaps',
  'timeline.key.broken': 'Fault',
  'timeline.key.unknown': 'Not recorded',
  'sky.choose': 'Tap a satellite, or select one with the arrow keys.',
  'sky.east': 'E',
  'sky.direction': 'azimuth {az}°, elevation {el}°',
  'sky.used': 'used',
  'sky.seen': 'in view only',
  'sky.shadingText': 'Signal strength by direction: {cells} directions of 10 by 10 degrees, {dark} of them dark',
  'map.entered': 'entered position',
  'map.now': 'position of now',
  'positions.used': 'No. {id}',
  'wap.enabled': 'Access point on',
} as const

type OwnKey = keyof typeof en | keyof typeof pages
export type TextKey = SharedKey | OwnKey
export type Texts = Readonly<Record<OwnKey, string>>
