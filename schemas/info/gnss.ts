/**
 * The `gnss` block of the status document. Every field is always present; an unknown value is `''`, `0`, `false` or
 * `[]`. The description names the field that tells whether the value is valid.
 */
import { type Static, type TSchema, Type } from 'typebox'
import { neighbourEffects, neighbourStates } from '../services/neighbours.js'
import { antennaStatuses, jammingStates, spoofingStates } from '../services/receiver.js'

const text = (description: string) => Type.String({ description })
const bool = (description: string) => Type.Boolean({ description })
/** The unit comes before the conditions, which follow the first semicolon. */
const metres = (description: string) => Type.Number({ description: description.replace(/;|$/, ', metres$&') })
const count = (description: string) => Type.Integer({ minimum: 0, description })
const utc = (description: string) => Type.Integer({ minimum: 0, description: `${description}, UTC seconds; 0: none` })
const tm = Type.String({
  pattern: '^(|\\d{4}-\\d\\d-\\d\\d_\\d\\d:\\d\\d:\\d\\d)$',
  description: 'The same time as YYYY-MM-DD_hh:mm:ss, UTC; empty if there is none',
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

/** States of the GNSS procedure, in order. */
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
  'offline: no port. stalled: the port is open but silent. identify, configure: the receiver is queried and configured. ' +
    'acquire: no fix or no RTCM yet. initial: the first position is checked. survey: a survey-in is running. fixed: the ' +
    'receiver is a base and RTCM flows (listen-only receiver: RTCM flows). moved: the antenna is not at its reference ' +
    'position. fault: the receiver does not work as configured',
)

export const gpsFixes = ['none', 'dead-reckoning', '2d', '3d', '3d-dr', 'time', 'rtk-float', 'rtk-fixed'] as const
export const GpsFixName = oneOf(
  gpsFixes,
  'Type of fix. time: fixed position of a base. none: also if the last epoch is older than 5 s',
)

export const AntennaInfo = closed(
  {
    power: Type.Integer({ minimum: 0, maximum: 2, description: '0 off, 1 on, 2 unknown' }),
    status: oneOf(antennaStatuses, 'From the antenna supervisor of the receiver; unknown: absent or switched off'),
    failcnt: count('Number of transitions to short or open since the service started'),
    failtime: utc('Last time the status was short or open'),
    oktime: utc('Last time the status was ok'),
  },
  'The antenna. Times are 0 while the clock is unknown',
)

export const ReceivedRtcm = closed(
  {
    elapsed: count('Seconds since the first correction of the current source; invalid while count is 0'),
    age: count('Seconds since the last correction; invalid while count is 0'),
    count: count('Correction messages accepted'),
    packets: count('Packets accepted'),
    remote: text('Sender; empty if none'),
    dist: metres('Distance to the reference point of the source; invalid while count is 0'),
  },
  'Incoming corrections',
)

const Jamming = (description: string) => oneOf(jammingStates, description)
export const RfInfo = closed(
  {
    jamming: Jamming(
      'Interference in the worst band. warning: detected, critical: the receiver cannot work, unknown: not monitored',
    ),
    spoofing: oneOf(spoofingStates, 'Signs of spoofed satellites detected by the receiver: none, one kind, or several'),
    slips: Type.Number({
      minimum: 0,
      maximum: 100,
      description:
        'Cycle slips: share of the carrier-phase observations of the last 5 min whose signal lost lock after the previous observation, %',
    }),
    bands: Type.Array(
      closed(
        {
          band: text('L1, L2, L5 or L6: a receiver input with all its signals, e.g. Galileo E5b in L2'),
          jamming: Jamming('Interference in the band'),
          indicator: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: 255,
              description: 'Continuous-wave interference, 0 to 255 (strong)',
            }),
          ),
          agc: Type.Optional(
            Type.Integer({ minimum: 0, maximum: 100, description: 'Gain of the input, %; interference lowers it' }),
          ),
          noise: Type.Optional(count('Noise level, receiver units')),
        },
        'One input',
      ),
      { maxItems: 8, description: 'Interference by band; empty while the receiver does not report it' },
    ),
    constellations: Type.Array(
      closed(
        {
          name: text('gps, glonass, galileo, beidou; others if received'),
          expected: Type.Array(Type.String(), {
            description: 'Signals that the receiver is configured to track; empty: none, or unknown (listen-only)',
          }),
          seen: Type.Array(Type.String(), { description: 'Signals received in the last 10 s' }),
          satellites: count('Satellites received'),
        },
        'One constellation',
      ),
      { maxItems: 8, description: 'Signals by constellation' },
    ),
  },
  'Interference, spoofing, and signals',
)

export const MotionInfo = closed(
  {
    net: metres('Displacement of the antenna within 10 s; invalid while satellites is 0'),
    sway: metres('RMS distance from the mean position over 10 s; invalid while satellites is 0'),
    satellites: count('Satellites that agree on the displacement; 0: unknown, e.g. just after a start'),
    lost: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Share of the satellites that lost carrier lock within 3 s',
    }),
    move: Type.Optional(
      closed(
        {
          by: Type.Union([Type.Literal('phases'), Type.Literal('code')], {
            description: 'The evidence: carrier phases (centimetres) or code (metres)',
          }),
          t: count('When the antenna left, UTC seconds; 0 without a credible clock'),
          size_m: metres('Distance from where it was'),
          at_least: Type.Boolean({
            description: 'It went at least so far: it is on the way, or only a bound is known',
          }),
          moves: Type.Integer({ minimum: 1, description: 'In how many moves' }),
          east_m: Type.Optional(
            metres('Component to the east; absent, as all that follow, if the direction is unknown'),
          ),
          north_m: Type.Optional(metres('Component to the north')),
          up_m: Type.Optional(metres('Component upwards')),
          sigma_east_m: Type.Optional(metres('Standard deviation of east_m')),
          sigma_north_m: Type.Optional(metres('Standard deviation of north_m')),
          sigma_up_m: Type.Optional(metres('Standard deviation of up_m')),
        },
        'How far the antenna is from where it was trusted. Only while a move is suspected and was measured',
      ),
    ),
  },
  'Antenna motion from the carrier phases. Present while integrity runs',
)

export const GnssZedInfo = closed(
  {
    module: text('e.g. ZED-F9P; empty until identified'),
    vfirmware: text('Firmware, e.g. HPG 1.32'),
    vhardware: text('Hardware version'),
    vsoftware: text('Software version'),
    serial: text('Unique chip id, upper-case hexadecimal; empty until identified'),
  },
  'Identity of a u-blox receiver',
)

export const GnssReceiverInfo = closed(
  {
    maker: text('e.g. u-blox; empty if the plugin does not report it'),
    model: text('e.g. ZED-F9P; empty until identified'),
    firmware: text('e.g. HPG 1.32'),
    serial: text('Empty until identified, or if the receiver has none'),
    rejected: Type.Array(Type.String(), {
      description: 'Optional settings that the receiver does not take; it works without them',
    }),
  },
  'Identity of a receiver of any manufacturer',
)

export const GnssState = closed(
  {
    time: utc('Receiver time once resolved, else device time'),
    tm,
    status: GnssStatus,
    gps_fix: GpsFixName,
    corrected: bool('The last epoch used corrections'),
    uptime: count('Seconds since the receiver started, as it reports; 0: unknown'),
    time_first_fix: count('Time to first fix, seconds; 0: unknown or none yet'),
    satvis: count('Satellites received'),
    satuse: count('Satellites used'),
    want_corr: Type.Integer({ minimum: 0, maximum: 1, description: '1 while corrections are wanted' }),
    antenna: AntennaInfo,
    rf: RfInfo,
    motion: Type.Optional(MotionInfo),
    recvrtcm: ReceivedRtcm,
  },
  'Current state of the receiver',
)

export const GnssConfig = closed(
  {
    startup: closed(
      {
        accuracy: metres('gnss-initial-accuracy: required accuracy of the first position'),
        delta_max: metres('gnss-initial-max-delta: allowed distance to the reference'),
        delta_max_corr: metres('gnss-initial-max-delta-corr: the same if both positions are RTK-corrected'),
      },
      'The start-up check; all 0 without integrity: nothing is checked',
    ),
    station: closed(
      {
        id: Type.Integer({
          minimum: 0,
          maximum: 4095,
          description: 'gnss-station-id: sent in all RTCM messages; for a listen-only receiver its own',
        }),
      },
      'Identity of the station in RTCM',
    ),
    recvrtcm: closed({ max_age: count('gnss-recvrtcm-max-age, seconds') }, 'Incoming corrections'),
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
    acc: metres('3D accuracy from the receiver, 1 sigma; 0: unknown (NMEA-only receiver)'),
    delta: metres(
      'Distance of the antenna from the reference. In fixed mode it does not come from this position (which then repeats the reference), but from the second fix or the ranges; 0: none',
    ),
    'geoidal-seperation': metres('Height above the ellipsoid minus height above mean sea level'),
    t: utc('Time of the position'),
    tm,
  },
  'The last position; in fixed mode it repeats the reference',
)

const reference = {
  type: Type.Union([Type.Literal(''), Type.Literal('ecef')], { description: 'Empty: not set' }),
  ...ecef,
  acc: metres('Accuracy, 3D 1 sigma; 0: unknown'),
  t: utc('Time of determination, or of the last 1005'),
  tm,
  hp: bool('The digits of the coordinates below 1 cm, down to 0.1 mm, are used'),
  corr: bool('Determined with RTK corrections'),
  frame: text('Reference frame of the coordinates, e.g. ETRF2000; empty: unknown'),
  epoch: text('Epoch of the frame, e.g. 2010.0; empty: unknown'),
}

export const surveyStates = ['none', 'running', 'complete', 'incomplete', 'aborted'] as const
export const GnssRef = closed(
  {
    manual: closed(
      {
        ...reference,
        point: oneOf(
          ['arp', 'phase-centre'],
          'gnss-ref-manual-point: type of the entered point. Once there is a position, x, y, z are always the antenna reference point',
        ),
        offset: metres('gnss-ref-manual-offset: phase centre above the reference point; used for phase-centre only'),
        source: Type.Optional(text('gnss-ref-manual-source: origin of the coordinates, if it was entered')),
      },
      'The manually entered reference, or that of an externally configured receiver',
    ),
    survey: closed(
      {
        ...reference,
        state: oneOf(surveyStates, 'State of the newest survey-in'),
        allow_use: Type.Integer({ minimum: 0, maximum: 1, description: '1 after use-incomplete-survey-in' }),
        acc_corr: metres(
          'Corrected survey-in: accuracy relative to the announced position of the correction source; compared with accuracy_corr_dyn',
        ),
        accuracy_corr_dyn: metres('Required accuracy of a corrected survey-in, including the distance-dependent part'),
        elapsed: count('Duration of the survey-in, seconds'),
        count: count('Epochs of the survey-in'),
        rtcm: closed(
          {
            age: count('Seconds since the last correction; invalid while count is 0'),
            count: count('Correction messages during the survey-in'),
            remote: text('Sender'),
            dist: metres('Distance to the reference point of the sender; invalid while count is 0'),
          },
          'Corrections during the survey-in',
        ),
        config: closed(
          {
            mintime: count('gnss-survey-mintime, seconds'),
            maxtime: count('gnss-survey-maxtime, seconds'),
            accuracy: metres('gnss-survey-accuracy'),
            accuracy_corr: metres('gnss-survey-accuracy-corr'),
            frame_corr: text('gnss-recvrtcm-frame: reference frame of the correction source; empty: unknown'),
            epoch_corr: text('gnss-recvrtcm-epoch: epoch of this frame; empty: unknown'),
          },
          'Settings of the survey-in; zeros if no plugin runs one',
        ),
      },
      'The surveyed reference',
    ),
    chosen: Type.Union([Type.Literal('manual'), Type.Literal('survey')], { description: 'The selected reference' }),
    announced: Type.Optional(
      closed(
        {
          frame: text('gnss-announce-frame; empty: the frame of the reference, unchanged'),
          epoch: Type.Number({
            minimum: 0,
            description: 'gnss-announce-epoch, decimal year; 0: that of the reference',
          }),
          plate: text('gnss-plate; empty: unknown'),
          drift: Type.Optional(
            metres(
              'Distance by which the motion of the plate changes the true coordinates in a year, if frame, epoch, plate and time are known',
            ),
          ),
          away: Type.Optional(metres('The same distance since the epoch of the announced coordinates')),
        },
        'The frame and epoch in which the chosen reference is announced',
      ),
    ),
    override: Type.Optional(
      closed(
        {
          t: count('Time of the confirmation, UTC seconds; 0 without a credible clock'),
          tm: text('The same time as YYYY-MM-DD_hh:mm:ss, UTC; empty if there is none'),
          by: text('Interface over which the command came: http, mqtt, console or plugin'),
          distance: metres('Distance of the antenna from the reference at that time, by positions'),
          east: metres('East component of this distance'),
          north: metres('North component'),
          up: metres('Up component'),
          evidence: text('Evidence of the move; empty: the result of the start-up check'),
        },
        'confirm-position: a person confirmed the chosen reference although the antenna seemed to have moved. Only until another reference is used',
      ),
    ),
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
          since: Type.Optional(
            Type.Number({ minimum: 0, description: 'Seconds since the last message with this number' }),
          ),
          nominal: Type.Optional(Type.Number({ minimum: 0, description: 'Configured interval, seconds, if known' })),
          bytes: Type.Optional(count('Size of the newest frame, bytes')),
        },
        '`interval` and `since` are present for messages in production',
      ),
      { description: 'Messages by number' },
    ),
    stat: closed({ recvd: count('Frames from the receiver'), corrupt: count('Damaged frames, dropped') }, 'Counters'),
    subscribers: Type.Array(
      closed(
        {
          via: text('Output, e.g. udp'),
          name: text('Name given by the subscriber'),
          seen: Type.Number({
            minimum: 0,
            description: 'Seconds since the subscriber was last heard; 0 while connected (TCP)',
          }),
          ip: text('Address'),
        },
        'One subscriber',
      ),
      { maxItems: 64, description: 'Clients and relays that receive RTCM, at most 64, those heard most recently' },
    ),
    antenna: closed(
      {
        descriptor: text('gnss-antenna-descriptor: IGS name; empty: not sent'),
        serial: text('gnss-antenna-serial'),
        height: metres('gnss-antenna-height: reference point above the marker; 0: not sent'),
      },
      'The entered antenna data, sent in 1006, 1008 and 1033',
    ),
  },
  'Outgoing RTCM',
)

const difference = (what: string) => ({
  east: metres(`${what}, to the east`),
  north: metres('To the north'),
  up: metres('Up'),
})
export const GnssNeighbours = closed(
  {
    state: oneOf(
      neighbourStates,
      'agrees: neighbours confirm the announced position. contradicts: at least two agree with each other against it. unknown: too little evidence',
    ),
    effect: oneOf(
      neighbourEffects,
      'Effect of a contradiction. notes: it is only reported. degrades: the verdict is degraded. holds: no RTCM is sent',
    ),
    text: text('The result for people'),
    offset: closed(difference('True minus announced position; invalid while state is unknown'), 'The difference found'),
    list: Type.Array(
      closed(
        {
          name: text('Name, mountpoint or serial'),
          source: text('Origin of the stream, without login'),
          link: oneOf(['connecting', 'streaming', 'waiting'], 'State of the stream'),
          epochs: count('Recorded epochs, one every 30 s, of the last hour'),
          dist: metres('Distance between the announced positions; 0: unknown'),
          status: oneOf(
            ['none', 'float', 'fixed'],
            'Newest measured vector. fixed: to centimetres. none: there is none',
          ),
          ...difference('Measured minus announced vector; invalid while status is none'),
          acc: metres('Accuracy of this difference, 3D 1 sigma'),
          age: count('Seconds since this comparison'),
          text: text('Why there is no newer comparison, or what it shows; empty: nothing to report'),
          moved: text('Significant movement of this station relative to the neighbour; empty: none'),
        },
        'One neighbour',
      ),
      { maxItems: 4, description: 'The neighbouring bases' },
    ),
  },
  'Comparison with neighbouring bases. Present while the plugin neighbours runs',
)
export type GnssNeighbours = Static<typeof GnssNeighbours>

/** The whole block. `rtcm` is present while the plugin `rtcm` runs, `zed` with a u-blox receiver. */
export const GnssInfo = Type.Object(
  {
    zed: Type.Optional(GnssZedInfo),
    receiver: GnssReceiverInfo,
    state: GnssState,
    config: GnssConfig,
    pos: GnssPos,
    ref: GnssRef,
    rtcm: Type.Optional(GnssRtcm),
    neighbours: Type.Optional(GnssNeighbours),
  },
  { description: 'The receiver, its position and its reference' },
)
export type GnssInfo = Static<typeof GnssInfo>
