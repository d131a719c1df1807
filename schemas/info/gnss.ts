/**
 * The `gnss` block of the information document. Every field is always there; what is unknown is `''`, `0`, `false` or
 * `[]`, and the description names the field that tells whether it means anything.
 */
import { type Static, type TSchema, Type } from 'typebox'
import { antennaStatuses, jammingStates, spoofingStates } from '../services/receiver.js'

const text = (description: string) => Type.String({ description })
const bool = (description: string) => Type.Boolean({ description })
const metres = (description: string) => Type.Number({ description: `${description}, metres` })
const count = (description: string) => Type.Integer({ minimum: 0, description })
const utc = (description: string) => Type.Integer({ minimum: 0, description: `${description}, UTC seconds; 0: none` })
const tm = Type.String({
  pattern: '^(|\\d{4}-\\d\\d-\\d\\d_\\d\\d:\\d\\d:\\d\\d)$',
  description: 'The time beside it as YYYY-MM-DD_hh:mm:ss, UTC; empty when that is 0',
})
const closed = <P extends Record<string, TSchema>>(properties: P, description: string) =>
  Type.Object(properties, { additionalProperties: false, description })
const oneOf = <T extends string>(values: readonly T[], description: string) =>
  Type.Unsafe<T>(
    Type.Union(
      values.map((value) => Type.Literal(value)),
      { description },
    ),
  )

/** States of the GNSS procedure, in its order; the last four are on the way or trouble. */
export const gnssStatuses = [
  'offline',
  'stalled',
  'identify',
  'configure',
  'acquire',
  'initial',
  'survey',
  'fixed',
  'moved',
  'fault',
] as const
export const GnssStatus = oneOf(
  gnssStatuses,
  'offline: no port; stalled: the port is open but silent; identify, configure: the receiver is asked and set up; ' +
    'acquire: no fix or no RTCM yet; initial: the first position is judged; survey: a survey-in runs; fixed: it is a ' +
    'base and RTCM flows (a receiver that is only listened to: RTCM flows); moved: it is not where its reference is; ' +
    'fault: it does not do what it is configured to do',
)

export const gpsFixes = ['none', 'dead-reckoning', '2d', '3d', '3d-dr', 'time', 'rtk-float', 'rtk-fixed'] as const
export const GpsFixName = oneOf(
  gpsFixes,
  'Kind of fix; time: position held fixed, as of a base; none also when the last epoch is older than 5 s',
)

export const AntennaInfo = closed(
  {
    power: Type.Integer({ minimum: 0, maximum: 2, description: '0 off, 1 on, 2 unknown' }),
    status: oneOf(antennaStatuses, 'By the antenna supervisor of the receiver; unknown: it has none or it is off'),
    failcnt: count('How often it went over into short or open, since the service started'),
    failtime: utc('When it was last seen short or open'),
    oktime: utc('When it was last seen ok'),
  },
  'The antenna. The times are 0 while no time is known',
)

export const ReceivedRtcm = closed(
  {
    elapsed: count('Seconds since the first correction of the present source; means nothing while count is 0'),
    age: count('Seconds since the last correction; means nothing while count is 0'),
    count: count('Correction messages taken; 0: none came'),
    packets: count('Packets taken'),
    remote: text('Who sends them; empty: nobody'),
    dist: metres('Distance to the reference point of the source; means nothing while count is 0'),
  },
  'Corrections that come in',
)

const Jamming = (description: string) => oneOf(jammingStates, description)
export const RfInfo = closed(
  {
    jamming: Jamming(
      'Interference, the worst band. warning: seen; critical: the receiver cannot work; unknown: not watched',
    ),
    spoofing: oneOf(spoofingStates, 'Signs of feigned satellites by the receiver: none, one kind, or several'),
    slips: Type.Number({ minimum: 0, maximum: 100, description: 'Phases whose lock broke, % of the last 5 minutes' }),
    bands: Type.Array(
      closed(
        {
          band: text('L1, L2 or L5: an input of the receiver with all that lies in it, e.g. Galileo E5b in L2'),
          jamming: Jamming('Interference in the band'),
          indicator: Type.Integer({ minimum: 0, maximum: 255, description: 'Tones in the band; 255: strong' }),
          agc: Type.Integer({ minimum: 0, maximum: 100, description: 'Gain of the input, %; interference lowers it' }),
          noise: count('Noise level, in units of the receiver'),
        },
        'One input',
      ),
      { maxItems: 8, description: 'Empty while the receiver says nothing about them' },
    ),
    constellations: Type.Array(
      closed(
        {
          name: text('gps, glonass, galileo, beidou; others when they are received'),
          expected: Type.Array(Type.String(), {
            description:
              'Signals that the receiver is set to track; empty: none, or not known (it is only listened to)',
          }),
          seen: Type.Array(Type.String(), { description: 'Signals that were received in the last 10 s' }),
          satellites: count('Satellites received'),
        },
        'One constellation',
      ),
      { maxItems: 8 },
    ),
  },
  'The air around the antenna',
)

export const MotionInfo = closed(
  {
    net: metres('How far the antenna is from where it was 10 s ago; means nothing while satellites is 0'),
    sway: metres('Rms of its distance from its mean position over 10 s; means nothing while satellites is 0'),
    satellites: count('Satellites that agree on it; 0: nothing is known, e.g. just after a start'),
    lost: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Part of the satellites that lost carrier lock within 3 s',
    }),
  },
  'The antenna by the carrier phases of the own observations. There where integrity runs',
)

export const GnssZedInfo = closed(
  {
    module: text('e.g. ZED-F9P; empty until identified'),
    vfirmware: text('Firmware, e.g. HPG 1.32'),
    vhardware: text('Hardware version'),
    vsoftware: text('Software version'),
    serial: text('Unique chip id, upper-case hexadecimal; empty until identified'),
  },
  'Who the receiver is, of a u-blox one',
)

export const GnssReceiverInfo = closed(
  {
    maker: text('e.g. u-blox; empty where its plugin does not say'),
    model: text('e.g. ZED-F9P; empty until identified'),
    firmware: text('e.g. HPG 1.32'),
    serial: text('Empty until identified, or where a receiver has none'),
  },
  'Who the receiver is, of any make',
)

export const GnssState = closed(
  {
    time: utc('Time of the receiver when it has resolved it, else of the device'),
    tm,
    status: GnssStatus,
    gps_fix: GpsFixName,
    corrected: bool('Corrections went into the last epoch'),
    uptime: count('Seconds since the receiver started, by itself; 0: unknown'),
    time_first_fix: count('Seconds from its start to the first fix; 0: unknown or none yet'),
    satvis: count('Satellites received'),
    satuse: count('Satellites used'),
    want_corr: Type.Integer({ minimum: 0, maximum: 1, description: '1 while corrections are asked for' }),
    antenna: AntennaInfo,
    rf: RfInfo,
    motion: Type.Optional(MotionInfo),
    recvrtcm: ReceivedRtcm,
  },
  'How the receiver is now',
)

export const GnssConfig = closed(
  {
    startup: closed(
      {
        accuracy: metres('gnss-initial-accuracy: needed accuracy of the first position'),
        delta_max: metres('gnss-initial-max-delta: allowed distance to the reference'),
        delta_max_corr: metres('gnss-initial-max-delta-corr: the same when both are RTK-corrected'),
      },
      'The start-up check; all 0 where integrity does not run: nothing is checked then',
    ),
    station: closed(
      {
        id: Type.Integer({
          minimum: 0,
          maximum: 4095,
          description: 'gnss-station-id: in all RTCM messages; of a receiver that is only listened to its own',
        }),
      },
      'Who the station is to rovers',
    ),
    recvrtcm: closed({ max_age: count('gnss-recvrtcm-max-age, seconds') }, 'Corrections that come in'),
  },
  'Settings',
)

const ecef = { x: metres('ECEF X'), y: metres('ECEF Y'), z: metres('ECEF Z') }

export const GnssPos = closed(
  {
    lat: Type.Number({ minimum: -90, maximum: 90, description: 'Degrees' }),
    lon: Type.Number({ minimum: -180, maximum: 180, description: 'Degrees' }),
    alt: metres('Height above the ellipsoid'),
    ...ecef,
    acc: metres('3D accuracy by the receiver, 1 sigma; 0: unknown (a receiver that only sends NMEA)'),
    delta: metres('Distance to the reference by evidence other than the echoed position of a fixed base; 0: none'),
    'geoidal-seperation': metres('Height above the ellipsoid less height above mean sea level'),
    t: utc('Time of the position; 0 means that there is none'),
    tm,
  },
  'The last position; of a base in fixed mode an echo of its reference',
)

const reference = {
  type: Type.Union([Type.Literal(''), Type.Literal('ecef')], { description: 'Empty: there is no such reference' }),
  ...ecef,
  acc: metres('Accuracy, 3D 1 sigma; 0: unknown'),
  t: utc('When it was determined, or last heard in 1005'),
  tm,
  hp: bool('The 0.1 mm part is used'),
  corr: bool('Determined with RTK corrections'),
  frame: text('What the coordinates are in, e.g. ETRF2000: of the manual one as it was entered; empty: not known'),
  epoch: text('The epoch of the frame, e.g. 2010.0; empty: not known'),
}

export const surveyStates = ['none', 'running', 'complete', 'incomplete', 'aborted'] as const
export const GnssRef = closed(
  {
    manual: closed(
      {
        ...reference,
        point: oneOf(
          ['arp', 'phase-centre'],
          'gnss-ref-manual-point: what was entered. x, y, z are the antenna reference point in any case, once there is a position',
        ),
        offset: metres(
          'gnss-ref-manual-offset: of the phase centre above the reference point; counts for phase-centre only',
        ),
      },
      'The reference that was entered, or that the receiver was given by someone else',
    ),
    survey: closed(
      {
        ...reference,
        state: oneOf(surveyStates, 'Of the newest survey-in'),
        allow_use: Type.Integer({ minimum: 0, maximum: 1, description: '1 after use-incomplete-survey-in' }),
        acc_corr: metres(
          'Of a corrected survey-in: accuracy relative to the position that the source of the corrections announces; accuracy_corr_dyn is compared with it',
        ),
        accuracy_corr_dyn: metres('Needed accuracy of a corrected survey-in, with the part for the distance'),
        elapsed: count('Seconds of the survey-in'),
        count: count('Epochs of the survey-in'),
        rtcm: closed(
          {
            age: count('Seconds; means nothing while count is 0'),
            count: count('Correction messages of the survey-in'),
            remote: text('Who sent them'),
            dist: metres('Distance to their reference point; means nothing while count is 0'),
          },
          'Corrections of the survey-in',
        ),
        config: closed(
          {
            mintime: count('gnss-survey-mintime, seconds'),
            maxtime: count('gnss-survey-maxtime, seconds'),
            accuracy: metres('gnss-survey-accuracy'),
            accuracy_corr: metres('gnss-survey-accuracy-corr'),
            frame_corr: text('gnss-recvrtcm-frame: what the source of the corrections is in; empty: not known'),
            epoch_corr: text('gnss-recvrtcm-epoch'),
          },
          'Settings of the survey-in; zeros when nothing here runs one',
        ),
      },
      'The surveyed reference',
    ),
    chosen: Type.Union([Type.Literal('manual'), Type.Literal('survey')], { description: 'Which of the two is used' }),
  },
  'The reference position',
)

export const GnssRtcm = closed(
  {
    msgs: Type.Array(
      closed(
        {
          id: Type.Integer({ minimum: 0, maximum: 4095, description: 'Message number' }),
          interval: Type.Optional(Type.Number({ minimum: 0, description: 'Mean interval, seconds' })),
          since: Type.Optional(Type.Number({ minimum: 0, description: 'Seconds since the last one' })),
          nominal: Type.Optional(
            Type.Number({ minimum: 0, description: 'Interval as it is set, seconds; absent where that is not known' }),
          ),
          bytes: Type.Optional(count('Size of the newest frame, bytes')),
        },
        'interval and since are there for messages that are being produced',
      ),
    ),
    stat: closed({ recvd: count('Frames from the receiver'), corrupt: count('Damaged frames, dropped') }, 'Counters'),
    subscribers: Type.Array(
      closed(
        {
          via: text('Surface, e.g. udp'),
          name: text('As the subscriber calls itself'),
          seen: Type.Number({
            minimum: 0,
            description: 'Seconds since it was last heard of; 0 while it is connected (TCP)',
          }),
          ip: text('Address'),
        },
        'One subscriber',
      ),
      { maxItems: 64, description: 'The most recently seen ones' },
    ),
    antenna: closed(
      {
        descriptor: text('gnss-antenna-descriptor: IGS name; empty: none is sent'),
        serial: text('gnss-antenna-serial'),
        height: metres('gnss-antenna-height: of the reference point above the marker; 0: none is sent'),
      },
      'The antenna as it was entered, sent in 1006, 1008 and 1033',
    ),
  },
  'RTCM that goes out',
)

/** The whole block; `rtcm` is there when the plugin `rtcm` runs, `zed` when the receiver is one of u-blox. */
export const GnssInfo = Type.Object(
  {
    zed: Type.Optional(GnssZedInfo),
    receiver: GnssReceiverInfo,
    state: GnssState,
    config: GnssConfig,
    pos: GnssPos,
    ref: GnssRef,
    rtcm: Type.Optional(GnssRtcm),
  },
  { description: 'The receiver, its position and its reference' },
)
export type GnssInfo = Static<typeof GnssInfo>
