// Generated from the schemas; see schemas/README.md.
/** Types of the data on HTTP and MQTT, by their names in /openapi.json and /asyncapi.json. */

/** The base: its state, its verdict, updates, LEDs */
export type BaseInfo = {
  state: {
    base: BaseStateName
    verdict: Verdict
    /** What is wrong now, newest last */
    errors: Array<{
      code: string
      text: string
      /** UTC seconds; 0 without a credible clock */
      t: number
    }>
    /** A change that may have cut its caller off and is not confirmed yet; present only then */
    trial?: {
      parameters: Array<string>
      /** Seconds until their old values return */
      left_s: number
    }
  }
  /** The clock of the machine */
  clock: {
    /** By what the clock of the machine is kept */
    kept: "ntp" | "receiver" | "nobody" | "unknown"
    /** Seconds that the receiver is ahead of it; 0 while the receiver tells no time */
    offset: number
    /** Port of 127.0.0.1 where the time of the receiver is served now; 0: nowhere */
    served: number
  }
  update?: {
    state: UpdateStateName
    /** The last update failed; until the next one begins */
    failed: boolean
    /** Percent of what `state` names */
    progress: number
  }
  log?: {
    /** `log-save-period`, seconds; 0: only when the service stops */
    save_period: number
  }
  leds?: {
    red: {
      /** Repeated; empty: there is no such LED */
      pattern: Array<{
        /** Colour 0xRRGGBB */
        v: number
        /** Seconds */
        t: number
      }>
    }
    green: {
      /** Repeated; empty: there is no such LED */
      pattern: Array<{
        /** Colour 0xRRGGBB */
        v: number
        /** Seconds */
        t: number
      }>
    }
    rgb: {
      /** Repeated; empty: there is no such LED */
      pattern: Array<{
        /** Colour 0xRRGGBB */
        v: number
        /** Seconds */
        t: number
      }>
    }
  }
}

/** What the base does */
export type BaseStateName = "starting" | "surveying" | "ready" | "degraded" | "updating" | "stopping"

/** Change parameters and their new values, at most 65,536 bytes; one change is one transaction */
export type Change = {
  /** Cable. 0: the port is down, and set down again whenever something brings it up */
  "eth-en"?: number
  /** Antenna: IGS name. IGS name of the antenna, at most 31 printable ASCII characters */
  "gnss-antenna-descriptor"?: string
  /** Antenna: height above the marker, m. Height of the antenna reference point above the marker, metres; 0: none */
  "gnss-antenna-height"?: number
  /** Antenna: serial number. Serial number of the antenna, at most 31 printable ASCII characters */
  "gnss-antenna-serial"?: string
  /** Start-up check: required accuracy of the first position, m */
  "gnss-initial-accuracy"?: number
  /** Start-up check: maximum distance to the reference, m */
  "gnss-initial-max-delta"?: number
  /** Start-up check: the same with corrections, m */
  "gnss-initial-max-delta-corr"?: number
  /** Corrections: epoch of the frame. The epoch that the source of the corrections is in, e.g. 2010.0, at most 32 characters */
  "gnss-recvrtcm-epoch"?: string
  /** Corrections: frame. The frame that the source of the corrections is in, e.g. ETRF2000, at most 32 characters */
  "gnss-recvrtcm-frame"?: string
  /** Corrections: oldest that count, s */
  "gnss-recvrtcm-max-age"?: number
  /** Which reference is used */
  "gnss-ref-chosen"?: "manual" | "survey"
  /** Reference: epoch of the frame. The epoch that the reference of this station is in, e.g. 2010.0, at most 32 characters */
  "gnss-ref-epoch"?: string
  /** Reference: frame. The frame that the reference of this station is in, e.g. ETRF2000, at most 32 characters */
  "gnss-ref-frame"?: string
  /** Entered position: accuracy, 3D 1 sigma, m */
  "gnss-ref-manual-acc"?: number
  /** Entered position: height above the ellipsoid, m. ellipsoidal height, metres, -7000000 to 7000000; null clears it */
  "gnss-ref-manual-alt"?: number | null
  /** Entered position: was determined with RTK corrections */
  "gnss-ref-manual-corr"?: boolean
  /** Entered position: use the 0.1 mm */
  "gnss-ref-manual-hp"?: boolean
  /** Entered position: latitude, °. degrees, -90 to 90; null clears it */
  "gnss-ref-manual-lat"?: number | null
  /** Entered position: longitude, °. degrees, -180 to 180; null clears it */
  "gnss-ref-manual-lon"?: number | null
  /** Phase centre above the reference point of the antenna, m */
  "gnss-ref-manual-offset"?: number
  /** Entered position: of what */
  "gnss-ref-manual-point"?: "arp" | "phase-centre"
  /** Entered position: ECEF X, m. ECEF metres, -7000000 to 7000000; null clears it */
  "gnss-ref-manual-x"?: number | null
  /** Entered position: ECEF Y, m. ECEF metres, -7000000 to 7000000; null clears it */
  "gnss-ref-manual-y"?: number | null
  /** Entered position: ECEF Z, m. ECEF metres, -7000000 to 7000000; null clears it */
  "gnss-ref-manual-z"?: number | null
  /** Station ID in RTCM */
  "gnss-station-id"?: number
  /** Survey-in: needed accuracy, m */
  "gnss-survey-accuracy"?: number
  /** Survey-in with corrections: needed accuracy, m */
  "gnss-survey-accuracy-corr"?: number
  /** Survey-in: longest time, s */
  "gnss-survey-maxtime"?: number
  /** Survey-in: shortest time, s */
  "gnss-survey-mintime"?: number
  /** Interval of saving the log, s. Seconds between two saves of the log; 0: only when the service ends */
  "log-save-period"?: number
  /** Mobile: APN. 1 to 100 printable characters without spaces, or empty: the table of APNs, or the router, has it */
  "mob-apn"?: string
  /** Host that the router pings. a host name or IP address (the router restarts when it does not answer), or empty (the router does not restart) */
  "mob-ping-host"?: string
  /** Mobile: password of the APN. printable ASCII characters, or empty */
  "mob-pswd"?: string
  /** Mobile: user of the APN. printable ASCII characters, or empty */
  "mob-user"?: string
  /** Mobile operator (MCC and MNC). MCC and MNC; 0: automatic */
  "mobile-operator"?: number
  /** MQTT */
  "mqtt-en"?: number
  /** MQTT: broker. a name or an IP address; empty: the embedded broker, or none */
  "mqtt-host"?: string
  /** MQTT: port of the broker */
  "mqtt-port"?: number
  /** RTCM over MQTT: seconds between two publications */
  "mqtt-rtcm-rate"?: number
  /** RTCM over MQTT: signed */
  "mqtt-rtcm-sign"?: number
  /** NTRIP caster: rovers need no login */
  "ntrip-caster-anonymous"?: number
  /** NTRIP caster */
  "ntrip-caster-en"?: number
  /** NTRIP caster: port */
  "ntrip-caster-port"?: number
  /** Caster for corrections. e.g. { "host": "caster.example.org", "port": 2101, "mount": "NEAR", "user": "me", "password": "…" }; { "host": "" }: none */
  "ntrip-client"?: {
    /** a host name or address, without http://; empty: none */
    host: "" | string
    /** 2101 where it is left out */
    port?: number
    /** letters, digits, _ . -; empty: the nearest of the source table */
    mount?: "" | string
    /** printable characters without a colon */
    user?: string
    /** printable characters without a space */
    password?: string
    /** NTRIP 1 or 2; 2 */
    version?: 1 | 2
    /** TLS; the certificate of the other end is checked */
    tls?: boolean
    /** send the position; if omitted: if the source table requires it */
    gga?: boolean
  }
  /** Casters to push to. e.g. [{ "host": "caster.example.org", "port": 2101, "mount": "ROOF1", "password": "…" }]; [] for none */
  "ntrip-server"?: Array<{
    /** a host name or address, without http:// */
    host: string
    /** 2101 where it is left out */
    port?: number
    /** letters, digits, _ . - */
    mount: string
    /** printable characters without a colon */
    user?: string
    /** printable characters without a space */
    password?: string
    /** NTRIP 1 (SOURCE) or 2 (POST); 1 */
    version?: 1 | 2
    /** TLS; the certificate of the other end is checked */
    tls?: boolean
    /** Message numbers that go out beside the position (1005 or 1006); left out: all */
    messages?: Array<number>
    /** Observation interval in seconds; default: each epoch */
    interval_s?: number
    /** MSM5–7 are sent as MSM4, a third of the bytes */
    msm4?: boolean
    /** table: looks up its row in the source table; echo: also reads its own mount point; default table */
    proof?: "off" | "table" | "echo"
    /** a rover’s login for the echo; default: user and password */
    echo?: {
      /** printable characters without a colon */
      user: string
      /** printable characters without a space */
      password: string
    }
  }>
  /** Outage: restart the modem. 1: the modem is restarted when nothing else helps */
  "recovery-modem"?: number
  /** Outage: most restarts of the modem a day. Restarts of the modem in 24 h */
  "recovery-modem-max"?: number
  /** Outage: minutes before a step. Minutes without any link before a step */
  "recovery-wait"?: number
  /** Radio modem on a serial port. e.g. { "port": "/dev/serial/by-id/usb-radio", "baud": 57600 }; { "port": "" }: none */
  "rtcm-serial"?: {
    /** a device path (best below /dev/serial/by-id) or tcp://host:port; empty: none */
    port: string
    /** rate of the line; default 57600 */
    baud?: number
    /** capacity of the radio, bytes per second; default: 80 % of the line */
    budget?: number
  }
  /** RTCM over TCP: port. 0: closed */
  "rtcm-tcp-port"?: number
  /** RTCM over TCP: addresses to connect to. e.g. [{ "host": "192.168.1.7", "port": 5000 }]; [] for none */
  "rtcm-tcp-push"?: Array<{
    /** a host name or address, without http:// */
    host: string
    /** TCP port */
    port: number
  }>
  /** Router: password. empty: the protected store, the lookup and the defaults are tried */
  "rtr-pswd"?: string
  /** Router: user. empty: admin, then root */
  "rtr-user"?: string
  /** WiFi uplink: password. 8 to 63 printable characters, or 64 hexadecimal digits; empty: an open network */
  "sta-pswd"?: string
  /** WiFi uplink: network. network of the uplink; empty: no station mode */
  "sta-ssid"?: string
  "trigger-gnss-survey"?: boolean
  /** RTCM over UDP */
  "udp-en"?: number
  /** RTCM over UDP: port */
  "udp-port"?: number
  /** Access point: channel */
  "wap-chan"?: number
  /** Access point */
  "wap-en"?: number
  /** Access point: silent clients are removed after, s. s; 0: clients are never removed */
  "wap-inactive-time"?: number
  /** Access point: most clients */
  "wap-max-sta"?: number
  /** Access point: password. WPA2: 8 to 63 printable characters, or 64 hexadecimal digits; empty: the one of this device */
  "wap-pswd"?: string
  /** Reverse gateway: DNS server. DNS server while the reverse gateway is used; empty: the gateway itself */
  "wap-revgw-dns"?: string
  /** Reverse gateway: MAC of the client. MAC of the access point client that gives the internet; empty: none */
  "wap-revgw-mac"?: string
  /** Access point: network name */
  "wap-ssid"?: string
  /** Access point: transmit power, dBm. dBm */
  "wap-txpwr"?: number
  /** WiFi: country. ISO 3166, e.g. NL; empty: as the machine has it */
  "wifi-reg-cc"?: string
  [name: string]: unknown
}

export type ChangeAnswer = {
  result: "ok" | "failed"
  /** Submitted fields that no plugin owns; everything that was submitted when `failed` */
  leftover: Record<string, unknown>
  /** Only when `failed` */
  errors?: Array<{
    name: string
    message: string
  }>
}

export type ClientState = "off" | "idle" | "connecting" | "streaming" | "waiting"

/** A command: `name` or `name=value` */
export type Command = string

export type CommandEntry = {
  name: string
  help: string
  plugin: string
  /** It takes text after `=` */
  value: boolean
  /** What a person should know before it runs, e.g. that RTCM stops meanwhile */
  caution?: string
  /** Of a group: what its value begins with */
  words?: Array<string>
}

export type ErrorAnswer = {
  /** The code, e.g. `RTK_ERR_UNAVAILABLE` */
  error: string
  /** What happened, to what */
  message: string
  /** What a person can do */
  help: string
  /** Where in the request */
  field?: string
}

/** The controller that runs the service */
export type EspInfo = {
  /** Release of the service */
  version: string
  /** Digest of the installed image, or of the source tree; hexadecimal */
  sha256: string
  /** Platform, e.g. `node v22.12.0` */
  idf: string
  /** Build time, ISO 8601 */
  built: string
  /** {SN} */
  serial: string
  /** As the variant says */
  hardware: string
  /** Slot that runs; empty where there are none */
  partition: string
  productionflag: number
  /** Starts of the service */
  bootcnt: number
  state: {
    /** Seconds since the service started */
    uptime: number
  }
  mem: {
    /** The service's heap; its blocks are the heap spaces of V8 */
    internal: {
      /** bytes */
      free: number
      /** bytes */
      used: number
      /** 0: not counted */
      freeblocks: number
      /** 0: not counted */
      usedblocks: number
    }
    /** Memory of the machine */
    spiram: {
      /** bytes */
      free: number
      /** bytes */
      used: number
      /** 0: not counted */
      freeblocks: number
      /** 0: not counted */
      usedblocks: number
    }
  }
}

export type EthInfo = {
  mac: string
  /** `eth-en` */
  enabled: boolean
  /** carrier */
  cable: boolean
  /** IPv4 */
  ip: string
  /** dotted */
  mask: string
  /** IPv4 */
  gw: string
  arp: Array<string>
}

/** Whether the base is fit to serve */
export type Fitness = "fit" | "degraded" | "unfit"

/** The receiver, its position and its reference */
export type GnssInfo = {
  /** Who the receiver is, of a u-blox one */
  zed?: {
    /** e.g. ZED-F9P; empty until identified */
    module: string
    /** Firmware, e.g. HPG 1.32 */
    vfirmware: string
    /** Hardware version */
    vhardware: string
    /** Software version */
    vsoftware: string
    /** Unique chip id, upper-case hexadecimal; empty until identified */
    serial: string
  }
  /** Who the receiver is, of any make */
  receiver: {
    /** e.g. u-blox; empty where its plugin does not say */
    maker: string
    /** e.g. ZED-F9P; empty until identified */
    model: string
    /** e.g. HPG 1.32 */
    firmware: string
    /** Empty until identified, or where a receiver has none */
    serial: string
  }
  state: GnssState
  /** Settings */
  config: {
    /** The start-up check; all 0 where integrity does not run: nothing is checked then */
    startup: {
      /** gnss-initial-accuracy: needed accuracy of the first position, metres */
      accuracy: number
      /** gnss-initial-max-delta: allowed distance to the reference, metres */
      delta_max: number
      /** gnss-initial-max-delta-corr: the same when both are RTK-corrected, metres */
      delta_max_corr: number
    }
    /** Who the station is to rovers */
    station: {
      /** gnss-station-id: in all RTCM messages; of a receiver that is only listened to its own */
      id: number
    }
    /** Corrections that come in */
    recvrtcm: {
      /** gnss-recvrtcm-max-age, seconds */
      max_age: number
    }
  }
  pos: GnssPos
  ref: GnssRef
  rtcm?: GnssRtcm
}

/** The last position; of a base in fixed mode an echo of its reference */
export type GnssPos = {
  /** Degrees */
  lat: number
  /** Degrees */
  lon: number
  /** Height above the ellipsoid, metres */
  alt: number
  /** ECEF X, metres */
  x: number
  /** ECEF Y, metres */
  y: number
  /** ECEF Z, metres */
  z: number
  /** 3D accuracy by the receiver, 1 sigma; 0: unknown (a receiver that only sends NMEA), metres */
  acc: number
  /** Distance to the reference by evidence other than the echoed position of a fixed base; 0: none, metres */
  delta: number
  /** Height above the ellipsoid less height above mean sea level, metres */
  "geoidal-seperation": number
  /** Time of the position; 0 means that there is none, UTC seconds; 0: none */
  t: number
  /** The time beside it as YYYY-MM-DD_hh:mm:ss, UTC; empty when that is 0 */
  tm: string
}

/** The reference position */
export type GnssRef = {
  /** The reference that was entered, or that the receiver was given by someone else */
  manual: {
    /** Empty: there is no such reference */
    type: "" | "ecef"
    /** ECEF X, metres */
    x: number
    /** ECEF Y, metres */
    y: number
    /** ECEF Z, metres */
    z: number
    /** Accuracy, 3D 1 sigma; 0: unknown, metres */
    acc: number
    /** When it was determined, or last heard in 1005, UTC seconds; 0: none */
    t: number
    /** The time beside it as YYYY-MM-DD_hh:mm:ss, UTC; empty when that is 0 */
    tm: string
    /** The 0.1 mm part is used */
    hp: boolean
    /** Determined with RTK corrections */
    corr: boolean
    /** What the coordinates are in, e.g. ETRF2000: of the manual one as it was entered; empty: not known */
    frame: string
    /** The epoch of the frame, e.g. 2010.0; empty: not known */
    epoch: string
    /** gnss-ref-manual-point: what was entered. x, y, z are the antenna reference point in any case, once there is a position */
    point: "arp" | "phase-centre"
    /** gnss-ref-manual-offset: of the phase centre above the reference point; counts for phase-centre only, metres */
    offset: number
  }
  /** The surveyed reference */
  survey: {
    /** Empty: there is no such reference */
    type: "" | "ecef"
    /** ECEF X, metres */
    x: number
    /** ECEF Y, metres */
    y: number
    /** ECEF Z, metres */
    z: number
    /** Accuracy, 3D 1 sigma; 0: unknown, metres */
    acc: number
    /** When it was determined, or last heard in 1005, UTC seconds; 0: none */
    t: number
    /** The time beside it as YYYY-MM-DD_hh:mm:ss, UTC; empty when that is 0 */
    tm: string
    /** The 0.1 mm part is used */
    hp: boolean
    /** Determined with RTK corrections */
    corr: boolean
    /** What the coordinates are in, e.g. ETRF2000: of the manual one as it was entered; empty: not known */
    frame: string
    /** The epoch of the frame, e.g. 2010.0; empty: not known */
    epoch: string
    /** Of the newest survey-in */
    state: "none" | "running" | "complete" | "incomplete" | "aborted"
    /** 1 after use-incomplete-survey-in */
    allow_use: number
    /** Of a corrected survey-in: accuracy relative to the position that the source of the corrections announces; accuracy_corr_dyn is compared with it, metres */
    acc_corr: number
    /** Needed accuracy of a corrected survey-in, with the part for the distance, metres */
    accuracy_corr_dyn: number
    /** Seconds of the survey-in */
    elapsed: number
    /** Epochs of the survey-in */
    count: number
    /** Corrections of the survey-in */
    rtcm: {
      /** Seconds; means nothing while count is 0 */
      age: number
      /** Correction messages of the survey-in */
      count: number
      /** Who sent them */
      remote: string
      /** Distance to their reference point; means nothing while count is 0, metres */
      dist: number
    }
    /** Settings of the survey-in; zeros when nothing here runs one */
    config: {
      /** gnss-survey-mintime, seconds */
      mintime: number
      /** gnss-survey-maxtime, seconds */
      maxtime: number
      /** gnss-survey-accuracy, metres */
      accuracy: number
      /** gnss-survey-accuracy-corr, metres */
      accuracy_corr: number
      /** gnss-recvrtcm-frame: what the source of the corrections is in; empty: not known */
      frame_corr: string
      /** gnss-recvrtcm-epoch */
      epoch_corr: string
    }
  }
  /** Which of the two is used */
  chosen: "manual" | "survey"
}

/** RTCM that goes out */
export type GnssRtcm = {
  msgs: Array<{
    /** Message number */
    id: number
    /** Mean interval, seconds */
    interval?: number
    /** Seconds since the last one */
    since?: number
    /** Interval as it is set, seconds; absent where that is not known */
    nominal?: number
    /** Size of the newest frame, bytes */
    bytes?: number
  }>
  /** Counters */
  stat: {
    /** Frames from the receiver */
    recvd: number
    /** Damaged frames, dropped */
    corrupt: number
  }
  /** The most recently seen ones */
  subscribers: Array<{
    /** Surface, e.g. udp */
    via: string
    /** As the subscriber calls itself */
    name: string
    /** Seconds since it was last heard of; 0 while it is connected (TCP) */
    seen: number
    /** Address */
    ip: string
  }>
  /** The antenna as it was entered, sent in 1006, 1008 and 1033 */
  antenna: {
    /** gnss-antenna-descriptor: IGS name; empty: none is sent */
    descriptor: string
    /** gnss-antenna-serial */
    serial: string
    /** gnss-antenna-height: of the reference point above the marker; 0: none is sent, metres */
    height: number
  }
}

/** How the receiver is now */
export type GnssState = {
  /** Time of the receiver when it has resolved it, else of the device, UTC seconds; 0: none */
  time: number
  /** The time beside it as YYYY-MM-DD_hh:mm:ss, UTC; empty when that is 0 */
  tm: string
  status: GnssStatus
  gps_fix: GpsFixName
  /** Corrections went into the last epoch */
  corrected: boolean
  /** Seconds since the receiver started, by itself; 0: unknown */
  uptime: number
  /** Seconds from its start to the first fix; 0: unknown or none yet */
  time_first_fix: number
  /** Satellites received */
  satvis: number
  /** Satellites used */
  satuse: number
  /** 1 while corrections are asked for */
  want_corr: number
  /** The antenna. The times are 0 while no time is known */
  antenna: {
    /** 0 off, 1 on, 2 unknown */
    power: number
    /** By the antenna supervisor of the receiver; unknown: it has none or it is off */
    status: "init" | "unknown" | "ok" | "short" | "open"
    /** How often it went over into short or open, since the service started */
    failcnt: number
    /** When it was last seen short or open, UTC seconds; 0: none */
    failtime: number
    /** When it was last seen ok, UTC seconds; 0: none */
    oktime: number
  }
  rf: RfInfo
  /** The antenna by the carrier phases of the own observations. There where integrity runs */
  motion?: {
    /** How far the antenna is from where it was 10 s ago; means nothing while satellites is 0, metres */
    net: number
    /** Rms of its distance from its mean position over 10 s; means nothing while satellites is 0, metres */
    sway: number
    /** Satellites that agree on it; 0: nothing is known, e.g. just after a start */
    satellites: number
    /** Part of the satellites that lost carrier lock within 3 s */
    lost: number
  }
  /** Corrections that come in */
  recvrtcm: {
    /** Seconds since the first correction of the present source; means nothing while count is 0 */
    elapsed: number
    /** Seconds since the last correction; means nothing while count is 0 */
    age: number
    /** Correction messages taken; 0: none came */
    count: number
    /** Packets taken */
    packets: number
    /** Who sends them; empty: nobody */
    remote: string
    /** Distance to the reference point of the source; means nothing while count is 0, metres */
    dist: number
  }
}

/** offline: no port; stalled: the port is open but silent; identify, configure: the receiver is asked and set up; acquire: no fix or no RTCM yet; initial: the first position is judged; survey: a survey-in runs; fixed: it is a base and RTCM flows (a receiver that is only listened to: RTCM flows); moved: it is not where its reference is; fault: it does not do what it is configured to do */
export type GnssStatus = "offline" | "stalled" | "identify" | "configure" | "acquire" | "initial" | "survey" | "fixed" | "moved" | "fault"

/** Kind of fix; time: position held fixed, as of a base; none also when the last epoch is older than 5 s */
export type GpsFixName = "none" | "dead-reckoning" | "2d" | "3d" | "3d-dr" | "time" | "rtk-float" | "rtk-fixed"

/** The information document. A block is present while its plugin runs. Other plugins add further blocks */
export type InfoDocument = {
  esp?: EspInfo
  gnss?: GnssInfo
  base?: BaseInfo
  eth?: EthInfo
  wap?: WapInfo
  sta?: StaInfo
  udp?: UdpInfo
  mqtt?: MqttInfo
  router?: RouterInfo
  modem?: ModemInfo
  links?: LinksInfo
  ntrip?: NtripInfo
  rtcm_tcp?: RtcmTcpInfo
  rtcm_serial?: RtcmSerialInfo
}

/** The part of the information document that a mask selects: any field may be missing */
export type InfoDocumentPart = {
  /** The controller that runs the service */
  esp?: {
    /** Release of the service */
    version?: string
    /** Digest of the installed image, or of the source tree; hexadecimal */
    sha256?: string
    /** Platform, e.g. `node v22.12.0` */
    idf?: string
    /** Build time, ISO 8601 */
    built?: string
    /** {SN} */
    serial?: string
    /** As the variant says */
    hardware?: string
    /** Slot that runs; empty where there are none */
    partition?: string
    productionflag?: number
    /** Starts of the service */
    bootcnt?: number
    state?: {
      /** Seconds since the service started */
      uptime?: number
    }
    mem?: {
      /** The service's heap; its blocks are the heap spaces of V8 */
      internal?: {
        /** bytes */
        free?: number
        /** bytes */
        used?: number
        /** 0: not counted */
        freeblocks?: number
        /** 0: not counted */
        usedblocks?: number
      }
      /** Memory of the machine */
      spiram?: {
        /** bytes */
        free?: number
        /** bytes */
        used?: number
        /** 0: not counted */
        freeblocks?: number
        /** 0: not counted */
        usedblocks?: number
      }
    }
  }
  /** The receiver, its position and its reference */
  gnss?: {
    /** Who the receiver is, of a u-blox one */
    zed?: {
      /** e.g. ZED-F9P; empty until identified */
      module?: string
      /** Firmware, e.g. HPG 1.32 */
      vfirmware?: string
      /** Hardware version */
      vhardware?: string
      /** Software version */
      vsoftware?: string
      /** Unique chip id, upper-case hexadecimal; empty until identified */
      serial?: string
    }
    /** Who the receiver is, of any make */
    receiver?: {
      /** e.g. u-blox; empty where its plugin does not say */
      maker?: string
      /** e.g. ZED-F9P; empty until identified */
      model?: string
      /** e.g. HPG 1.32 */
      firmware?: string
      /** Empty until identified, or where a receiver has none */
      serial?: string
    }
    /** How the receiver is now */
    state?: {
      /** Time of the receiver when it has resolved it, else of the device, UTC seconds; 0: none */
      time?: number
      /** The time beside it as YYYY-MM-DD_hh:mm:ss, UTC; empty when that is 0 */
      tm?: string
      status?: GnssStatus
      gps_fix?: GpsFixName
      /** Corrections went into the last epoch */
      corrected?: boolean
      /** Seconds since the receiver started, by itself; 0: unknown */
      uptime?: number
      /** Seconds from its start to the first fix; 0: unknown or none yet */
      time_first_fix?: number
      /** Satellites received */
      satvis?: number
      /** Satellites used */
      satuse?: number
      /** 1 while corrections are asked for */
      want_corr?: number
      /** The antenna. The times are 0 while no time is known */
      antenna?: {
        /** 0 off, 1 on, 2 unknown */
        power?: number
        /** By the antenna supervisor of the receiver; unknown: it has none or it is off */
        status?: "init" | "unknown" | "ok" | "short" | "open"
        /** How often it went over into short or open, since the service started */
        failcnt?: number
        /** When it was last seen short or open, UTC seconds; 0: none */
        failtime?: number
        /** When it was last seen ok, UTC seconds; 0: none */
        oktime?: number
      }
      /** The air around the antenna */
      rf?: {
        /** Interference, the worst band. warning: seen; critical: the receiver cannot work; unknown: not watched */
        jamming?: "unknown" | "ok" | "warning" | "critical"
        /** Signs of feigned satellites by the receiver: none, one kind, or several */
        spoofing?: "unknown" | "none" | "indicated" | "multiple"
        /** Phases whose lock broke, % of the last 5 minutes */
        slips?: number
        /** Empty while the receiver says nothing about them */
        bands?: Array<{
          /** L1, L2 or L5: an input of the receiver with all that lies in it, e.g. Galileo E5b in L2 */
          band: string
          /** Interference in the band */
          jamming: "unknown" | "ok" | "warning" | "critical"
          /** Tones in the band; 255: strong */
          indicator: number
          /** Gain of the input, %; interference lowers it */
          agc: number
          /** Noise level, in units of the receiver */
          noise: number
        }>
        constellations?: Array<{
          /** gps, glonass, galileo, beidou; others when they are received */
          name: string
          /** Signals that the receiver is set to track; empty: none, or not known (it is only listened to) */
          expected: Array<string>
          /** Signals that were received in the last 10 s */
          seen: Array<string>
          /** Satellites received */
          satellites: number
        }>
      }
      /** The antenna by the carrier phases of the own observations. There where integrity runs */
      motion?: {
        /** How far the antenna is from where it was 10 s ago; means nothing while satellites is 0, metres */
        net?: number
        /** Rms of its distance from its mean position over 10 s; means nothing while satellites is 0, metres */
        sway?: number
        /** Satellites that agree on it; 0: nothing is known, e.g. just after a start */
        satellites?: number
        /** Part of the satellites that lost carrier lock within 3 s */
        lost?: number
      }
      /** Corrections that come in */
      recvrtcm?: {
        /** Seconds since the first correction of the present source; means nothing while count is 0 */
        elapsed?: number
        /** Seconds since the last correction; means nothing while count is 0 */
        age?: number
        /** Correction messages taken; 0: none came */
        count?: number
        /** Packets taken */
        packets?: number
        /** Who sends them; empty: nobody */
        remote?: string
        /** Distance to the reference point of the source; means nothing while count is 0, metres */
        dist?: number
      }
    }
    /** Settings */
    config?: {
      /** The start-up check; all 0 where integrity does not run: nothing is checked then */
      startup?: {
        /** gnss-initial-accuracy: needed accuracy of the first position, metres */
        accuracy?: number
        /** gnss-initial-max-delta: allowed distance to the reference, metres */
        delta_max?: number
        /** gnss-initial-max-delta-corr: the same when both are RTK-corrected, metres */
        delta_max_corr?: number
      }
      /** Who the station is to rovers */
      station?: {
        /** gnss-station-id: in all RTCM messages; of a receiver that is only listened to its own */
        id?: number
      }
      /** Corrections that come in */
      recvrtcm?: {
        /** gnss-recvrtcm-max-age, seconds */
        max_age?: number
      }
    }
    /** The last position; of a base in fixed mode an echo of its reference */
    pos?: {
      /** Degrees */
      lat?: number
      /** Degrees */
      lon?: number
      /** Height above the ellipsoid, metres */
      alt?: number
      /** ECEF X, metres */
      x?: number
      /** ECEF Y, metres */
      y?: number
      /** ECEF Z, metres */
      z?: number
      /** 3D accuracy by the receiver, 1 sigma; 0: unknown (a receiver that only sends NMEA), metres */
      acc?: number
      /** Distance to the reference by evidence other than the echoed position of a fixed base; 0: none, metres */
      delta?: number
      /** Height above the ellipsoid less height above mean sea level, metres */
      "geoidal-seperation"?: number
      /** Time of the position; 0 means that there is none, UTC seconds; 0: none */
      t?: number
      /** The time beside it as YYYY-MM-DD_hh:mm:ss, UTC; empty when that is 0 */
      tm?: string
    }
    /** The reference position */
    ref?: {
      /** The reference that was entered, or that the receiver was given by someone else */
      manual?: {
        /** Empty: there is no such reference */
        type?: "" | "ecef"
        /** ECEF X, metres */
        x?: number
        /** ECEF Y, metres */
        y?: number
        /** ECEF Z, metres */
        z?: number
        /** Accuracy, 3D 1 sigma; 0: unknown, metres */
        acc?: number
        /** When it was determined, or last heard in 1005, UTC seconds; 0: none */
        t?: number
        /** The time beside it as YYYY-MM-DD_hh:mm:ss, UTC; empty when that is 0 */
        tm?: string
        /** The 0.1 mm part is used */
        hp?: boolean
        /** Determined with RTK corrections */
        corr?: boolean
        /** What the coordinates are in, e.g. ETRF2000: of the manual one as it was entered; empty: not known */
        frame?: string
        /** The epoch of the frame, e.g. 2010.0; empty: not known */
        epoch?: string
        /** gnss-ref-manual-point: what was entered. x, y, z are the antenna reference point in any case, once there is a position */
        point?: "arp" | "phase-centre"
        /** gnss-ref-manual-offset: of the phase centre above the reference point; counts for phase-centre only, metres */
        offset?: number
      }
      /** The surveyed reference */
      survey?: {
        /** Empty: there is no such reference */
        type?: "" | "ecef"
        /** ECEF X, metres */
        x?: number
        /** ECEF Y, metres */
        y?: number
        /** ECEF Z, metres */
        z?: number
        /** Accuracy, 3D 1 sigma; 0: unknown, metres */
        acc?: number
        /** When it was determined, or last heard in 1005, UTC seconds; 0: none */
        t?: number
        /** The time beside it as YYYY-MM-DD_hh:mm:ss, UTC; empty when that is 0 */
        tm?: string
        /** The 0.1 mm part is used */
        hp?: boolean
        /** Determined with RTK corrections */
        corr?: boolean
        /** What the coordinates are in, e.g. ETRF2000: of the manual one as it was entered; empty: not known */
        frame?: string
        /** The epoch of the frame, e.g. 2010.0; empty: not known */
        epoch?: string
        /** Of the newest survey-in */
        state?: "none" | "running" | "complete" | "incomplete" | "aborted"
        /** 1 after use-incomplete-survey-in */
        allow_use?: number
        /** Of a corrected survey-in: accuracy relative to the position that the source of the corrections announces; accuracy_corr_dyn is compared with it, metres */
        acc_corr?: number
        /** Needed accuracy of a corrected survey-in, with the part for the distance, metres */
        accuracy_corr_dyn?: number
        /** Seconds of the survey-in */
        elapsed?: number
        /** Epochs of the survey-in */
        count?: number
        /** Corrections of the survey-in */
        rtcm?: {
          /** Seconds; means nothing while count is 0 */
          age?: number
          /** Correction messages of the survey-in */
          count?: number
          /** Who sent them */
          remote?: string
          /** Distance to their reference point; means nothing while count is 0, metres */
          dist?: number
        }
        /** Settings of the survey-in; zeros when nothing here runs one */
        config?: {
          /** gnss-survey-mintime, seconds */
          mintime?: number
          /** gnss-survey-maxtime, seconds */
          maxtime?: number
          /** gnss-survey-accuracy, metres */
          accuracy?: number
          /** gnss-survey-accuracy-corr, metres */
          accuracy_corr?: number
          /** gnss-recvrtcm-frame: what the source of the corrections is in; empty: not known */
          frame_corr?: string
          /** gnss-recvrtcm-epoch */
          epoch_corr?: string
        }
      }
      /** Which of the two is used */
      chosen?: "manual" | "survey"
    }
    /** RTCM that goes out */
    rtcm?: {
      msgs?: Array<{
        /** Message number */
        id: number
        /** Mean interval, seconds */
        interval?: number
        /** Seconds since the last one */
        since?: number
        /** Interval as it is set, seconds; absent where that is not known */
        nominal?: number
        /** Size of the newest frame, bytes */
        bytes?: number
      }>
      /** Counters */
      stat?: {
        /** Frames from the receiver */
        recvd?: number
        /** Damaged frames, dropped */
        corrupt?: number
      }
      /** The most recently seen ones */
      subscribers?: Array<{
        /** Surface, e.g. udp */
        via: string
        /** As the subscriber calls itself */
        name: string
        /** Seconds since it was last heard of; 0 while it is connected (TCP) */
        seen: number
        /** Address */
        ip: string
      }>
      /** The antenna as it was entered, sent in 1006, 1008 and 1033 */
      antenna?: {
        /** gnss-antenna-descriptor: IGS name; empty: none is sent */
        descriptor?: string
        /** gnss-antenna-serial */
        serial?: string
        /** gnss-antenna-height: of the reference point above the marker; 0: none is sent, metres */
        height?: number
      }
    }
  }
  /** The base: its state, its verdict, updates, LEDs */
  base?: {
    state?: {
      base?: BaseStateName
      /** The most important thing about the base, by one table */
      verdict?: {
        fitness?: Fitness
        /** Of the rule that decides; `ok` when nothing is wrong */
        code?: string
        why?: string
        /** What a person can do; empty: nothing is to be done */
        advice?: string
        /** UTC seconds; 0 without a credible clock */
        since?: number
        /** Seconds since fitness and code are these */
        for_s?: number
      }
      /** What is wrong now, newest last */
      errors?: Array<{
        code: string
        text: string
        /** UTC seconds; 0 without a credible clock */
        t: number
      }>
      /** A change that may have cut its caller off and is not confirmed yet; present only then */
      trial?: {
        parameters?: Array<string>
        /** Seconds until their old values return */
        left_s?: number
      }
    }
    /** The clock of the machine */
    clock?: {
      /** By what the clock of the machine is kept */
      kept?: "ntp" | "receiver" | "nobody" | "unknown"
      /** Seconds that the receiver is ahead of it; 0 while the receiver tells no time */
      offset?: number
      /** Port of 127.0.0.1 where the time of the receiver is served now; 0: nowhere */
      served?: number
    }
    update?: {
      state?: UpdateStateName
      /** The last update failed; until the next one begins */
      failed?: boolean
      /** Percent of what `state` names */
      progress?: number
    }
    log?: {
      /** `log-save-period`, seconds; 0: only when the service stops */
      save_period?: number
    }
    leds?: {
      red?: {
        /** Repeated; empty: there is no such LED */
        pattern?: Array<{
          /** Colour 0xRRGGBB */
          v: number
          /** Seconds */
          t: number
        }>
      }
      green?: {
        /** Repeated; empty: there is no such LED */
        pattern?: Array<{
          /** Colour 0xRRGGBB */
          v: number
          /** Seconds */
          t: number
        }>
      }
      rgb?: {
        /** Repeated; empty: there is no such LED */
        pattern?: Array<{
          /** Colour 0xRRGGBB */
          v: number
          /** Seconds */
          t: number
        }>
      }
    }
  }
  eth?: {
    mac?: string
    /** `eth-en` */
    enabled?: boolean
    /** carrier */
    cable?: boolean
    /** IPv4 */
    ip?: string
    /** dotted */
    mask?: string
    /** IPv4 */
    gw?: string
    arp?: Array<string>
  }
  wap?: {
    bssid?: string
    ssid?: string
    /** `wap-en` */
    enabled?: boolean
    /** a secret in the document by contract; empty for a viewer */
    pwd?: string
    /** dBm in force, 0 while off */
    tx_power?: number
    /** 0: the driver cannot limit it */
    max_sta?: number
    /** interval, time units of 1.024 ms */
    beacon?: number
    /** MHz */
    bandwidth?: number
    channel?: number
    /** s */
    inactive_time?: number
    reg?: {
      /** ISO 3166, in force */
      cc?: string
      /** highest 2.4 GHz channel allowed there */
      max_chan?: number
      /** dBm */
      max_txpwr?: number
    }
    revgw?: {
      mac?: string
      ip?: string
      dns?: string
    }
    sta?: Array<{
      mac: string
      /** from the DHCP leases, empty unknown */
      ip: string
      /** dBm */
      rssi: number
    }>
  }
  sta?: {
    mac?: string
    /** `sta-ssid` */
    ssid?: string
    /** empty while not joined */
    bssid?: string
    /** How the joined network authenticates; with `bssid` empty it means nothing */
    auth?: "open" | "wep" | "wpa-psk" | "wpa2-psk" | "wpa3-sae" | "wpa-eap"
    ip4?: string
    ip6?: Array<string>
    /** s since a frame of the access point was received */
    inactive_time?: number
    channel?: number
    /** second channel of a 40 MHz network, 0 without */
    channel2?: number
    /** MHz */
    bandwidth?: number
    /** dBm */
    rssi?: number
  }
  udp?: {
    /** `udp-en` */
    enabled?: boolean
    /** `udp-port` */
    port?: number
  }
  mqtt?: {
    /** interface of the broker socket: `eth`, `sta`, `cellular` or empty */
    via?: string
    host?: string
    port?: number
    state?: {
      link?: MqttLinkState
      cert?: {
        /** UTC seconds; 0 without a certificate */
        from?: number
        /** UTC seconds; 0 without a certificate */
        until?: number
        /** hexadecimal; empty without a certificate */
        serial?: string
      }
      error?: {
        cause?: MqttFailureCause
        text?: string
      }
    }
    stat?: {
      /** sessions that a broker accepted */
      sessions?: number
      /** information publications that were due and were not sent */
      missed?: number
      /** retained requests that were dropped */
      retained?: number
      /** messages on `cmd` and `change/post` that were not a command or a change */
      malformed?: number
    }
    rtcm?: {
      /** mqtt-rtcm runs and `mqtt-en` is 1: RTCM goes out while the reference is trusted and the link is up */
      enabled?: boolean
      /** a publication went out within the last two periods */
      active?: boolean
      /** `base/{SN}/drtk` */
      topic?: string
      /** seconds between publications */
      rate?: number
      /** publications are signed */
      sign?: boolean
    }
  }
  router?: {
    serial?: string
    /** MAC of its Ethernet port, upper case with colons */
    macaddr?: string
    /** product code */
    hw?: string
    hwver?: string
    hwbatch?: string
    /** firmware version as the router writes it */
    swver?: string
    state?: {
      /** seconds */
      uptime?: number
      /** its clock, epoch seconds */
      time?: number
      link?: RouterLinkState
      /** why the link is not `online`; empty while it is */
      error?: string
      /** `ubus`, `rest` or empty */
      transport?: string
      /** `legacy`, `7` or empty */
      generation?: string
    }
    wap?: {
      bssid?: string
      ssid?: string
      pswd?: string
    }
    /** of the protected store */
    default?: {
      user?: string
      pswd?: string
    }
    /** SHA-256 of the pinned certificate, hexadecimal; empty over plain HTTP */
    certificate?: string
    /** as `wap.ssid` */
    "wap-ssid"?: string
    /** of the modem */
    model?: string
    imei?: string
    "sim-iccid"?: string
    "sim-imsi"?: string
    operator?: string
    /** e.g. LTE */
    "network-type"?: string
    "cell-id"?: string
    plmn?: number
    /** RSSI, dBm; 0 = unknown */
    signal?: number
    /** a mobile data connection stands */
    connected?: boolean
  }
  modem?: {
    imei?: string
    model?: string
    manuf?: string
    /** firmware of the modem */
    rev?: string
    support?: {
      /** it can list operators and select one */
      operator?: boolean
    }
    state?: {
      network?: ModemNetwork
      operator?: string
      carrier?: string
      /** `connected`, `disconnected` or empty while unknown */
      data?: string
      /** e.g. LTE */
      connection_type?: string
      cell_id?: string
      /** dBm; 0 = unknown */
      rssi?: number
      /** 0 = not registered */
      plmn?: number
      /** degrees Celsius; 0 beside `temp_valid` false means nothing */
      temp?: number
      temp_valid?: boolean
      pending?: Array<string>
      /** dBm */
      rsrp?: number
      /** dB */
      rsrq?: number
      /** dB */
      sinr?: number
    }
    cfg?: {
      /** operator selected by hand, 0 = automatic */
      plmn?: number
      /** host whose silence makes the router restart; empty while that is off */
      ping_reboot?: string
      /** as the router has it */
      apn?: string
      user?: string
      pswd?: string
      apn_choice?: {
        /** `user` (mob-apn), `table`, `router` (left as the router has it) or empty */
        from?: string
        /** of the SIM, as the table names it; empty while it is not known */
        carrier?: string
        /** other APNs that the table has for this SIM, the most likely one first */
        alternatives?: Array<{
          apn: string
          user: string
          carrier: string
        }>
      }
    }
    sim?: {
      imsi?: string
      iccid?: string
      state?: SimState
    }
    stats?: {
      /** bytes */
      sent?: number
      /** bytes */
      recvd?: number
    }
    scan?: Array<{
      plmn: number
      name: string
      /** bitmask: 256 GSM, 258 LTE, 4 any other */
      act: number
    }>
    /** the last 24 h, every 5 min; only with the all-granularity bit */
    history?: Array<{
      /** UTC seconds */
      t: number
      /** dBm */
      rssi?: number
      /** dBm */
      rsrp?: number
      /** dB */
      rsrq?: number
      /** dB */
      sinr?: number
    }>
  }
  /** What leads out of the box, and what is done when none of it comes through */
  links?: {
    /** The first ones; each text is cut */
    outputs?: Array<LinkInfo>
    recovery?: {
      /** Seconds for which no link has come through; 0: at least one does */
      outage?: number
      /** What is waited for, and what comes next; empty while nothing is wrong */
      text?: string
      /** Interface that was given the default route; empty: as the network has it */
      uplink?: string
      /** Restarts of the modem in the last 24 h */
      restarts?: number
      /** The last steps, newest last */
      steps?: Array<{
        /** UTC seconds */
        t: number
        step: "uplink" | "modem" | "back"
        text: string
        /** false: it could not be done */
        done: boolean
      }>
    }
  }
  ntrip?: {
    caster?: {
      /** `ntrip-caster-en` */
      enabled?: boolean
      /** 0 while closed */
      port?: number
      /** port with TLS, 0 without */
      tls?: number
      /** of the own stream */
      mounts?: Array<string>
      /** logins */
      users?: number
      /** rovers */
      connected?: number
      /** requests */
      refused?: number
      /** the newest ones */
      rovers?: Array<NtripRover>
      /** mount points of foreign bases */
      bases?: Array<NtripBase>
    }
    server?: Array<{
      host: string
      port: number
      mount: string
      /** of NTRIP */
      version: 1 | 2
      tls: boolean
      state: PushState
      /** what went wrong, or how it was proven, for a person */
      text: string
      /** s until the next attempt */
      next: number
      /** s since the caster accepted */
      since: number
      /** address that is connected */
      ip: string
      /** writes */
      sent: number
      /** writes left out, the caster being slow */
      dropped: number
    }>
    client?: {
      host?: string
      port?: number
      mount?: string
      state?: ClientState
      /** why it waits */
      text?: string
      /** s until the next attempt */
      next?: number
      /** messages */
      frames?: number
    }
  }
  rtcm_tcp?: {
    port?: number
    /** clients */
    connected?: number
    push?: Array<{
      host: string
      port: number
      state: "connecting" | "connected" | "waiting"
      text: string
      /** epochs */
      dropped: number
    }>
  }
  rtcm_serial?: {
    /** device path or tcp://host:port */
    port?: string
    /** bit/s */
    baud?: number
    /** bytes a second */
    budget?: number
    state?: "off" | "open" | "waiting"
    /** why it waits */
    text?: string
    /** how the stream is thinned */
    sends?: string
    /** bytes */
    sent?: number
    /** epochs */
    dropped?: number
  }
}

export type LinkInfo = {
  /** Plugin and peer (host:port); without user or password */
  name: string
  /** How it is */
  state: "idle" | "down" | "refused" | "up"
  /** Why it is not up; empty while it is */
  reason: string
  /** Seconds in this state */
  since: number
  /** Attempts that failed since it was up last */
  attempts: number
  /** What the next attempt does */
  step: "reconnect" | "resolve" | "family"
  /** 4 or 6: IP version of the connection or of the last attempt; 0 unknown */
  family: number
  /** Seconds until the next attempt; 0: under way, or none is made */
  next: number
}

/** What leads out of the box, and what is done when none of it comes through */
export type LinksInfo = {
  /** The first ones; each text is cut */
  outputs: Array<LinkInfo>
  recovery: {
    /** Seconds for which no link has come through; 0: at least one does */
    outage: number
    /** What is waited for, and what comes next; empty while nothing is wrong */
    text: string
    /** Interface that was given the default route; empty: as the network has it */
    uplink: string
    /** Restarts of the modem in the last 24 h */
    restarts: number
    /** The last steps, newest last */
    steps: Array<{
      /** UTC seconds */
      t: number
      step: "uplink" | "modem" | "back"
      text: string
      /** false: it could not be done */
      done: boolean
    }>
  }
}

export type ModemInfo = {
  imei: string
  model: string
  manuf: string
  /** firmware of the modem */
  rev: string
  support: {
    /** it can list operators and select one */
    operator: boolean
  }
  state: {
    network: ModemNetwork
    operator: string
    carrier: string
    /** `connected`, `disconnected` or empty while unknown */
    data: string
    /** e.g. LTE */
    connection_type: string
    cell_id: string
    /** dBm; 0 = unknown */
    rssi: number
    /** 0 = not registered */
    plmn: number
    /** degrees Celsius; 0 beside `temp_valid` false means nothing */
    temp: number
    temp_valid: boolean
    pending: Array<string>
    /** dBm */
    rsrp?: number
    /** dB */
    rsrq?: number
    /** dB */
    sinr?: number
  }
  cfg: {
    /** operator selected by hand, 0 = automatic */
    plmn: number
    /** host whose silence makes the router restart; empty while that is off */
    ping_reboot: string
    /** as the router has it */
    apn: string
    user: string
    pswd: string
    apn_choice?: {
      /** `user` (mob-apn), `table`, `router` (left as the router has it) or empty */
      from: string
      /** of the SIM, as the table names it; empty while it is not known */
      carrier: string
      /** other APNs that the table has for this SIM, the most likely one first */
      alternatives: Array<{
        apn: string
        user: string
        carrier: string
      }>
    }
  }
  sim: {
    imsi: string
    iccid: string
    state: SimState
  }
  stats: {
    /** bytes */
    sent: number
    /** bytes */
    recvd: number
  }
  scan: Array<{
    plmn: number
    name: string
    /** bitmask: 256 GSM, 258 LTE, 4 any other */
    act: number
  }>
  /** the last 24 h, every 5 min; only with the all-granularity bit */
  history?: Array<{
    /** UTC seconds */
    t: number
    /** dBm */
    rssi?: number
    /** dBm */
    rsrp?: number
    /** dB */
    rsrq?: number
    /** dB */
    sinr?: number
  }>
}

/** Registration with a mobile network */
export type ModemNetwork = "unregistered" | "home" | "searching" | "denied" | "unknown" | "roaming"

/** Why the link is down */
export type MqttFailureCause = "" | "config" | "held" | "identity" | "dns" | "refused" | "unreachable" | "timeout" | "tls" | "protocol" | "auth" | "closed" | "ping"

export type MqttInfo = {
  /** interface of the broker socket: `eth`, `sta`, `cellular` or empty */
  via: string
  host: string
  port: number
  state: {
    link: MqttLinkState
    cert: {
      /** UTC seconds; 0 without a certificate */
      from: number
      /** UTC seconds; 0 without a certificate */
      until: number
      /** hexadecimal; empty without a certificate */
      serial: string
    }
    error: {
      cause: MqttFailureCause
      text: string
    }
  }
  stat?: {
    /** sessions that a broker accepted */
    sessions: number
    /** information publications that were due and were not sent */
    missed?: number
    /** retained requests that were dropped */
    retained?: number
    /** messages on `cmd` and `change/post` that were not a command or a change */
    malformed?: number
  }
  rtcm?: {
    /** mqtt-rtcm runs and `mqtt-en` is 1: RTCM goes out while the reference is trusted and the link is up */
    enabled: boolean
    /** a publication went out within the last two periods */
    active: boolean
    /** `base/{SN}/drtk` */
    topic: string
    /** seconds between publications */
    rate: number
    /** publications are signed */
    sign: boolean
  }
}

/** State of the link to the broker */
export type MqttLinkState = "disabled" | "connecting" | "up" | "down" | "renewing"

export type NtripBase = {
  mount: string
  unverified: true
  /** a base pushes now */
  connected: boolean
  ip: string
  agent: string
  /** UTC seconds */
  since: number
  /** s since the last message */
  silent: number
  /** messages */
  frames: number
  /** bit/s */
  bitrate: number
  /** that take it */
  rovers: number
}

export type NtripInfo = {
  caster?: {
    /** `ntrip-caster-en` */
    enabled: boolean
    /** 0 while closed */
    port: number
    /** port with TLS, 0 without */
    tls: number
    /** of the own stream */
    mounts: Array<string>
    /** logins */
    users: number
    /** rovers */
    connected: number
    /** requests */
    refused: number
    /** the newest ones */
    rovers: Array<NtripRover>
    /** mount points of foreign bases */
    bases: Array<NtripBase>
  }
  server?: Array<{
    host: string
    port: number
    mount: string
    /** of NTRIP */
    version: 1 | 2
    tls: boolean
    state: PushState
    /** what went wrong, or how it was proven, for a person */
    text: string
    /** s until the next attempt */
    next: number
    /** s since the caster accepted */
    since: number
    /** address that is connected */
    ip: string
    /** writes */
    sent: number
    /** writes left out, the caster being slow */
    dropped: number
  }>
  client?: {
    host: string
    port: number
    mount: string
    state: ClientState
    /** why it waits */
    text: string
    /** s until the next attempt */
    next: number
    /** messages */
    frames: number
  }
}

export type NtripRover = {
  /** for `ntrip-kick` */
  id: number
  mount: string
  /** it takes the stream of a foreign base */
  unverified: boolean
  /** its login, empty without one */
  user: string
  /** what it calls itself */
  agent: string
  ip: string
  /** UTC seconds */
  since: number
  /** degrees, from its GGA */
  lat: number
  /** degrees */
  lon: number
  /** of its GGA: 1 single, 2 differential, 4 fixed, 5 float */
  quality: number
  /** metres to the base */
  dist: number
  /** s since its GGA came */
  age: number
}

export type NvsNamespaces = {
  namespaces: Array<string>
}

/** Key-value pairs of the namespace; scalars only */
export type NvsValues = Record<string, string | number | boolean>

export type NvsWritten = {
  result: "ok"
  /** Pairs that were stored */
  written: number
}

/** Whether the station is online */
export type OnlineStatus = "y" | "r" | "q" | "L"

export type ParameterEntry = {
  name: string
  plugin: string
  /** For a person; the name where the plugin gives none */
  title: string
  /** JSON Schema of the value */
  schema: Record<string, unknown>
  /** Not of a secret */
  default?: unknown
  /** Not of a secret */
  value?: unknown
  /** Only of a secret: whether it is other than its default */
  set?: boolean
  secret: boolean
  /** A change of it may end the caller's own connection */
  endsLink: boolean
  /** A change of it is set back unless the caller reaches the station again */
  onTrial: boolean
}

export type PluginReport = {
  name: string
  version: string
  state: PluginStateName
  /** Why it is in that state, or what it says of itself */
  reason: string
  /** Ids of services */
  needs: Array<string>
  /** Ids of services */
  provides: Array<string>
}

export type PluginStateName = "waiting" | "starting" | "running" | "stopping" | "stopped" | "failed" | "quarantined"

export type PushState = "off" | "waiting" | "connecting" | "refused" | "accepted" | "acknowledged" | "proven"

export type RecordEntry = {
  /** UTC milliseconds, corrected by the steps of the clock that came later in the same run */
  t: number
  /** Milliseconds since the service started; never steps */
  up: number
  /** The service started; how and when the run before ended (at_ms 0: unknown) */
  run?: {
    version: string
    how: string
    text: string
    at_ms: number
  }
  /** The service, or this plugin, was stopped */
  stop?: string
  /** How everything is */
  all?: Record<string, Record<string, string | number | boolean>>
  /** What changed; null: it is gone */
  set?: Record<string, Record<string, string | number | boolean> | null>
  min?: {
    /** RTCM epochs that went out */
    epochs: number
    /** Longest time without one, seconds */
    gap: number
    /** RTCM messages that went out, by number */
    frames: Record<string, number>
    /** Takers of the stream that the document showed at its end */
    rovers: number
    /** Links that were up at its end */
    links: number
    /** Navigation epochs of the receiver */
    fixes: number
    /** The last one: none, 3d, time, rtk-fixed, … */
    fix: string
    /** Satellites in the position */
    used: number
    /** Satellites received */
    visible: number
    /** 3D accuracy by the receiver, metres; 0 unknown */
    acc: number
    /** ECEF, metres; of a base in fixed mode its reference. Empty: none */
    pos: Array<number>
    /** unknown, ok, warning or critical */
    jam: string
    /** Correction messages that came in */
    corrections: number
  }
  /** Something happened */
  note?: {
    what: string
    text: string
  }
  /** The clock was set, by so much */
  clock?: {
    by_ms: number
  }
  /** So many lines before this one could not be written */
  lost?: number
}

/** The air around the antenna */
export type RfInfo = {
  /** Interference, the worst band. warning: seen; critical: the receiver cannot work; unknown: not watched */
  jamming: "unknown" | "ok" | "warning" | "critical"
  /** Signs of feigned satellites by the receiver: none, one kind, or several */
  spoofing: "unknown" | "none" | "indicated" | "multiple"
  /** Phases whose lock broke, % of the last 5 minutes */
  slips: number
  /** Empty while the receiver says nothing about them */
  bands: Array<{
    /** L1, L2 or L5: an input of the receiver with all that lies in it, e.g. Galileo E5b in L2 */
    band: string
    /** Interference in the band */
    jamming: "unknown" | "ok" | "warning" | "critical"
    /** Tones in the band; 255: strong */
    indicator: number
    /** Gain of the input, %; interference lowers it */
    agc: number
    /** Noise level, in units of the receiver */
    noise: number
  }>
  constellations: Array<{
    /** gps, glonass, galileo, beidou; others when they are received */
    name: string
    /** Signals that the receiver is set to track; empty: none, or not known (it is only listened to) */
    expected: Array<string>
    /** Signals that were received in the last 10 s */
    seen: Array<string>
    /** Satellites received */
    satellites: number
  }>
}

export type RouterInfo = {
  serial: string
  /** MAC of its Ethernet port, upper case with colons */
  macaddr: string
  /** product code */
  hw: string
  hwver: string
  hwbatch: string
  /** firmware version as the router writes it */
  swver: string
  state: {
    /** seconds */
    uptime: number
    /** its clock, epoch seconds */
    time: number
    link: RouterLinkState
    /** why the link is not `online`; empty while it is */
    error: string
    /** `ubus`, `rest` or empty */
    transport: string
    /** `legacy`, `7` or empty */
    generation: string
  }
  wap: {
    bssid: string
    ssid: string
    pswd: string
  }
  /** of the protected store */
  default: {
    user: string
    pswd: string
  }
  /** SHA-256 of the pinned certificate, hexadecimal; empty over plain HTTP */
  certificate: string
  /** as `wap.ssid` */
  "wap-ssid": string
  /** of the modem */
  model: string
  imei: string
  "sim-iccid": string
  "sim-imsi": string
  operator: string
  /** e.g. LTE */
  "network-type": string
  "cell-id": string
  plmn: number
  /** RSSI, dBm; 0 = unknown */
  signal: number
  /** a mobile data connection stands */
  connected: boolean
}

/** Link to the router */
export type RouterLinkState = "searching" | "offline" | "locked" | "certificate" | "restarting" | "online"

export type RtcmSerialInfo = {
  /** device path or tcp://host:port */
  port: string
  /** bit/s */
  baud: number
  /** bytes a second */
  budget: number
  state: "off" | "open" | "waiting"
  /** why it waits */
  text: string
  /** how the stream is thinned */
  sends: string
  /** bytes */
  sent: number
  /** epochs */
  dropped: number
}

export type RtcmSignature = {
  /** how it was signed */
  "sig-alg": "ECDSA-SHA256" | "ECDSA-SHA384" | "RSA-SHA256" | "Ed25519"
  /** the signature, base64 */
  sig: string
  /** serial number of the certificate, hexadecimal */
  "sig-cert": string
  /** rises by one per publication; may jump ahead to the current time */
  "sig-seq": string
  /** UTC, milliseconds; 0 while the station does not know it */
  "sig-time": string
}

export type RtcmTcpInfo = {
  port: number
  /** clients */
  connected: number
  push: Array<{
    host: string
    port: number
    state: "connecting" | "connected" | "waiting"
    text: string
    /** epochs */
    dropped: number
  }>
}

export type SessionRequest = {
  /** http.token or http.viewerToken of the variant */
  token: string
}

export type SessionState = {
  /** What the caller may do: nothing, read, everything */
  role: "none" | "viewer" | "operator"
  /** Tokens are set, so there is something to log in to */
  login: boolean
  /** When the session cookie ends, UTC in seconds; 0: no session */
  expires: number
}

/** State of the SIM; while it is not `ready`, what is read from the SIM means nothing */
export type SimState = "absent" | "pin" | "puk" | "ready" | "error"

export type StaInfo = {
  mac: string
  /** `sta-ssid` */
  ssid: string
  /** empty while not joined */
  bssid: string
  /** How the joined network authenticates; with `bssid` empty it means nothing */
  auth: "open" | "wep" | "wpa-psk" | "wpa2-psk" | "wpa3-sae" | "wpa-eap"
  ip4: string
  ip6: Array<string>
  /** s since a frame of the access point was received */
  inactive_time: number
  channel: number
  /** second channel of a 40 MHz network, 0 without */
  channel2: number
  /** MHz */
  bandwidth: number
  /** dBm */
  rssi: number
}

export type UdpInfo = {
  /** `udp-en` */
  enabled: boolean
  /** `udp-port` */
  port: number
}

export type UpdateAnswer = {
  result: "ok"
  /** Of the image (target `esp`) */
  version?: string
  /** What the router does (target `rut`) */
  message?: string
}

/** Downloads and installs firmware */
export type UpdateBase = {
  cmd_type: "updateBase"
  cmd_param: {
    /** the image, as for `firmware=<url>` */
    url: string
  }
}

/** What the update does */
export type UpdateStateName = "idle" | "downloading" | "verifying" | "installing" | "rebooting" | "failed"

/** The most important thing about the base, by one table */
export type Verdict = {
  fitness: Fitness
  /** Of the rule that decides; `ok` when nothing is wrong */
  code: string
  why: string
  /** What a person can do; empty: nothing is to be done */
  advice: string
  /** UTC seconds; 0 without a credible clock */
  since: number
  /** Seconds since fitness and code are these */
  for_s: number
}

export type WapInfo = {
  bssid: string
  ssid: string
  /** `wap-en` */
  enabled: boolean
  /** a secret in the document by contract; empty for a viewer */
  pwd: string
  /** dBm in force, 0 while off */
  tx_power: number
  /** 0: the driver cannot limit it */
  max_sta: number
  /** interval, time units of 1.024 ms */
  beacon: number
  /** MHz */
  bandwidth: number
  channel: number
  /** s */
  inactive_time: number
  reg: {
    /** ISO 3166, in force */
    cc: string
    /** highest 2.4 GHz channel allowed there */
    max_chan: number
    /** dBm */
    max_txpwr: number
  }
  revgw: {
    mac: string
    ip: string
    dns: string
  }
  sta: Array<{
    mac: string
    /** from the DHCP leases, empty unknown */
    ip: string
    /** dBm */
    rssi: number
  }>
}
