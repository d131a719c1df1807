// Generated from the schemas; see schemas/README.md.
/** Types of the data on HTTP and MQTT, by their names in /openapi.json and /asyncapi.json. */

/** The base: its state, its verdict, updates, LEDs */
export type BaseInfo = {
  /** Name that people gave the station (`station-name`); may be empty */
  name: string
  state: {
    base: BaseStateName
    verdict: Verdict
    /** Current errors, newest last */
    errors: Array<{
      /** Error code */
      code: string
      /** Problem, then advice after a semicolon */
      text: string
      /** The numbers and words that vary in the text, for translations */
      values?: Record<string, string | number | boolean>
      /** Start of the error, UTC seconds; 0 without a credible clock */
      t: number
    }>
    /** An unconfirmed change that may have disconnected its caller, if there is one */
    trial?: {
      /** The changed parameters */
      parameters: Array<string>
      /** Seconds until the old values are restored */
      left_s: number
    }
  }
  /** The system clock */
  clock: {
    /** Source that synchronises the system clock */
    kept: "ntp" | "receiver" | "nobody" | "unknown"
    /** Receiver time minus system clock, seconds; 0 while the receiver reports no time */
    offset: number
    /** Port on 127.0.0.1 that serves the receiver time now; 0: none */
    served: number
  }
  /** The machine; at most 10 s old when it is asked for repeatedly */
  machine?: {
    /** Of the hottest part that has a sensor, °C; omitted without one */
    temp?: number
    /** The disk with the data folder, bytes; omitted if it cannot be asked */
    disk?: {
      free: number
      size: number
    }
    /** The supply voltage is or was too low since the start; omitted if the machine does not measure it */
    undervoltage?: boolean
  }
  update?: {
    state: UpdateStateName
    /** The last update failed; false again once the next one begins */
    failed: boolean
    /** Progress of the step in `state`, percent */
    progress: number
  }
  log?: {
    /** `log-save-period`, seconds; 0: only when the service stops */
    save_period: number
  }
  leds?: {
    red: {
      /** Repeating pattern; empty if the station lacks this LED */
      pattern: Array<{
        /** Colour 0xRRGGBB */
        v: number
        /** Seconds */
        t: number
      }>
    }
    green: {
      /** Repeating pattern; empty if the station lacks this LED */
      pattern: Array<{
        /** Colour 0xRRGGBB */
        v: number
        /** Seconds */
        t: number
      }>
    }
    rgb: {
      /** Repeating pattern; empty if the station lacks this LED */
      pattern: Array<{
        /** Colour 0xRRGGBB */
        v: number
        /** Seconds */
        t: number
      }>
    }
  }
}

/** State of the base */
export type BaseStateName = "starting" | "surveying" | "ready" | "degraded" | "updating" | "stopping"

/** Change parameters and their new values, at most 65,536 bytes; one change is one transaction */
export type Change = {
  /** Alerts: webhooks. e.g. [{ "name": "ops", "url": "https://hooks.example.org/rtk", "secret": "…" }]; [] for none */
  "alerts-hooks"?: Array<{
    /** Name of the webhook: letters, digits and _.- */
    name: string
    /** https URL */
    url: string
    /** template with {{subject}}, {{text}} and others; default: all as JSON */
    body?: string
    /** of the template; default json */
    type?: "json" | "text"
    /** further headers, with | between them: "Title: Alert | Tags: rtk" */
    headers?: string
    /** key of the signature */
    secret?: string
    /** critical: no warnings; default warning */
    least?: "warning" | "critical"
    /** false: kept, but not used; default true */
    enabled?: boolean
  }>
  /** Alerts: sender of the mails. an e-mail address, for example ada@example.org */
  "alerts-mail-from"?: string
  /** Alerts: mail server. SMTP server, a name or an address, the port is alerts-mail-port; empty: no e-mails */
  "alerts-mail-host"?: string
  /** Alerts: password at the mail server */
  "alerts-mail-password"?: string
  /** Alerts: port of the mail server */
  "alerts-mail-port"?: number
  /** Alerts: encryption of the mail server. starttls: mostly port 587; tls: mostly port 465; none: only for a server in the local network */
  "alerts-mail-tls"?: "starttls" | "tls" | "none"
  /** Alerts: recipients of the mails */
  "alerts-mail-to"?: Array<string>
  /** Alerts: user at the mail server. Empty: without a login */
  "alerts-mail-user"?: string
  /** Alerts: quiet hours. e.g. 22:00-06:30: warnings wait, critical alerts do not */
  "alerts-quiet"?: string
  /** Alerts: time zone. IANA name of the time zone, e.g. Europe/Berlin; empty: that of the machine */
  "alerts-zone"?: string
  /** Cable: fixed address. e.g. 192.168.1.20/24 (24 if there is no prefix); empty: the network assigns an address (DHCP) */
  "eth-address"?: string
  /** Cable: DNS servers. at most three addresses, separated by commas (only with a fixed address); empty: the gateway */
  "eth-dns"?: string
  /** Cable. 0: the port is down, and is taken down again if another program brings it up */
  "eth-en"?: number | boolean
  /** Cable: gateway. address of the router in the same network (only with a fixed address); empty: no default route through this port */
  "eth-gateway"?: string
  /** Announced position: epoch. Decimal year, e.g. 2010.0; null: the epoch of the reference. Needs gnss-plate */
  "gnss-announce-epoch"?: null | number
  /** Announced position: frame. ITRF2020: worldwide: results of PPP services (IGS20 is the same); ITRF2014: worldwide, until 2022; ETRF2020: Europe; ETRF2014: Europe; ETRF2000: Europe: the national networks of most countries; GDA2020: Australia; NAD83(2011): United States; NAD83(CSRS): Canada. Empty: the frame of the reference, unchanged */
  "gnss-announce-frame"?: "" | "ITRF2020" | "ITRF2014" | "ETRF2020" | "ETRF2014" | "ETRF2000" | "GDA2020" | "NAD83(2011)" | "NAD83(CSRS)"
  /** Antenna: IGS name. IGS name of the antenna, at most 31 printable ASCII characters */
  "gnss-antenna-descriptor"?: string
  /** Antenna: height above the marker, m. Height of the antenna reference point above the marker, metres; 0: none */
  "gnss-antenna-height"?: number
  /** Antenna: serial number. Serial number of the antenna, at most 31 printable ASCII characters */
  "gnss-antenna-serial"?: string
  /** RTCM: interval of the GLONASS biases (1230), s. Seconds, 1 to 255; null: the option of the receiver's plugin */
  "gnss-bias-interval"?: number | null
  /** Satellites: constellations. []: the receiver keeps its own. QZSS is switched together with GPS */
  "gnss-constellations"?: Array<"gps" | "glonass" | "galileo" | "beidou">
  /** Satellites: elevation mask, °. Degrees, 0 to 60; null: the receiver keeps its own */
  "gnss-elevation-mask"?: number | null
  /** Start-up check: required accuracy of the first position, m */
  "gnss-initial-accuracy"?: number
  /** Start-up check: maximum distance to the reference, m */
  "gnss-initial-max-delta"?: number
  /** Start-up check: maximum distance with RTK corrections, m */
  "gnss-initial-max-delta-corr"?: number
  /** RTCM: MSM type. 4, or 7 with Doppler and finer resolution at 1.6 times the size; null: the option of the receiver's plugin */
  "gnss-msm"?: 4 | 7 | null
  /** RTCM: interval of the observations, s. Seconds, 1 to 255; null: the option of the receiver's plugin */
  "gnss-msm-interval"?: number | null
  /** Tectonic plate. Tectonic plate that carries the station, e.g. EURA, NOAM or AUST; empty: unknown */
  "gnss-plate"?: "" | "AMUR" | "ANTA" | "ARAB" | "AUST" | "CARB" | "EURA" | "INDI" | "NAZC" | "NOAM" | "NUBI" | "PCFC" | "SOAM" | "SOMA"
  /** Corrections: epoch of the frame. The epoch of the correction source, e.g. 2010.0, at most 32 characters */
  "gnss-recvrtcm-epoch"?: string
  /** Corrections: frame. The frame of the correction source, e.g. ETRF2000, at most 32 characters */
  "gnss-recvrtcm-frame"?: string
  /** Corrections: maximum age, s */
  "gnss-recvrtcm-max-age"?: number
  /** Which reference is used */
  "gnss-ref-chosen"?: "manual" | "survey"
  /** Reference: epoch of the frame. The epoch of this station's reference, e.g. 2010.0, at most 32 characters */
  "gnss-ref-epoch"?: string
  /** Reference: frame. The frame of this station's reference, e.g. ETRF2000, at most 32 characters */
  "gnss-ref-frame"?: string
  /** Entered position: accuracy, 3D 1 sigma, m */
  "gnss-ref-manual-acc"?: number
  /** Entered position: height above the ellipsoid, m. ellipsoidal height, metres, -7000000 to 7000000; null clears it */
  "gnss-ref-manual-alt"?: number | null
  /** Entered position: was determined with RTK corrections */
  "gnss-ref-manual-corr"?: boolean
  /** Entered position: use it to 0.1 mm */
  "gnss-ref-manual-hp"?: boolean
  /** Entered position: latitude, °. degrees, -90 to 90; null clears it */
  "gnss-ref-manual-lat"?: number | null
  /** Entered position: longitude, °. degrees, -180 to 180; null clears it */
  "gnss-ref-manual-lon"?: number | null
  /** Phase centre above the reference point of the antenna, m */
  "gnss-ref-manual-offset"?: number
  /** Entered position: reference point or phase centre */
  "gnss-ref-manual-point"?: "arp" | "phase-centre"
  /** Entered position: source. Where the coordinates come from, e.g. a report. Cleared by other coordinates */
  "gnss-ref-manual-source"?: string
  /** Entered position: ECEF X, m. ECEF metres, -7000000 to 7000000; null clears it */
  "gnss-ref-manual-x"?: number | null
  /** Entered position: ECEF Y, m. ECEF metres, -7000000 to 7000000; null clears it */
  "gnss-ref-manual-y"?: number | null
  /** Entered position: ECEF Z, m. ECEF metres, -7000000 to 7000000; null clears it */
  "gnss-ref-manual-z"?: number | null
  /** RTCM: interval of the reference position (1005), s. Seconds, 1 to 255; null: the option of the receiver's plugin */
  "gnss-reference-interval"?: number | null
  /** Station ID in RTCM */
  "gnss-station-id"?: number
  /** Survey-in: required accuracy, m */
  "gnss-survey-accuracy"?: number
  /** Survey-in with corrections: required accuracy, m */
  "gnss-survey-accuracy-corr"?: number
  /** Survey-in: maximum time, s */
  "gnss-survey-maxtime"?: number
  /** Survey-in: minimum time, s */
  "gnss-survey-mintime"?: number
  /** Interval of saving the log, s. Seconds between two saves of the log; 0: only when the service ends */
  "log-save-period"?: number
  /** Provider of the map. Text under the map that the licence of the tiles requires, such as © OpenStreetMap contributors */
  "map-attribution"?: string
  /** Map under the rovers. https address of the map tiles, with {z}, {x} and {y}; empty: a drawing without a map */
  "map-tiles"?: string
  /** Mobile: APN. 1 to 100 printable characters without spaces, or empty: taken from the APN table or the router */
  "mob-apn"?: string
  /** Host that the router pings. a host name or IP address (the router restarts when this host does not answer), or empty (the router does not restart) */
  "mob-ping-host"?: string
  /** Mobile: password of the APN. printable ASCII characters, or empty */
  "mob-pswd"?: string
  /** Mobile: user of the APN. printable ASCII characters, or empty */
  "mob-user"?: string
  /** Mobile operator (MCC and MNC). MCC and MNC; 0: automatic */
  "mobile-operator"?: number
  /** MQTT */
  "mqtt-en"?: number | boolean
  /** MQTT: broker. a name or an IP address, the port is mqtt-port; empty: the embedded broker, or none */
  "mqtt-host"?: string
  /** MQTT: port of the broker */
  "mqtt-port"?: number
  /** RTCM over MQTT: seconds between two publications */
  "mqtt-rtcm-rate"?: number
  /** RTCM over MQTT: signed */
  "mqtt-rtcm-sign"?: number | boolean
  /** Neighbouring bases to compare with. e.g. [{ "host": "caster.example.org", "mount": "DELF", "user": "me", "password": "…" }, { "serial": "OTHER" }]; at most 4 */
  neighbours?: Array<{
    /** for people; default: mountpoint or serial */
    name?: string
    /** a host name or an address, without http://, user or port: the port has a field of its own */
    host: string
    /** 2101 where it is left out */
    port?: number
    /** letters, digits, _ . - */
    mount: string
    /** printable characters of any script without a colon; invisible characters, which pasted text may have at its ends, are refused */
    user?: string
    /** printable characters of any script without a space; invisible characters, which pasted text may have at its ends, are refused */
    password?: string
    /** NTRIP 1 or 2; 2 */
    version?: 1 | 2
    /** TLS; the certificate of the other end is checked */
    tls?: boolean
    /** send the position; default: if nothing comes without it */
    gga?: boolean
  } | {
    /** for people; default: mountpoint or serial */
    name?: string
    /** serial number of another rtk-base station */
    serial: string
  }>
  /** If neighbouring bases contradict the position. note: only reported. degraded: the verdict is degraded. hold: no RTCM is sent */
  "neighbours-effect"?: "note" | "degraded" | "hold"
  /** NTRIP caster: rovers need no login. 1: rovers in the local network need no login, even if logins are set */
  "ntrip-caster-anonymous"?: number | boolean
  /** NTRIP caster */
  "ntrip-caster-en"?: number | boolean
  /** NTRIP caster: port. 0: any free port */
  "ntrip-caster-port"?: number
  /** Caster for corrections. e.g. { "host": "caster.example.org", "port": 2101, "mount": "NEAR", "user": "me", "password": "…" }; { "host": "" }: none */
  "ntrip-client"?: {
    /** a host name or address, without http://; empty: none */
    host: "" | string
    /** 2101 where it is left out */
    port?: number
    /** letters, digits, _ . -; empty: the nearest of the source table */
    mount?: "" | string
    /** printable characters of any script without a colon; invisible characters, which pasted text may have at its ends, are refused */
    user?: string
    /** printable characters of any script without a space; invisible characters, which pasted text may have at its ends, are refused */
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
    /** a host name or an address, without http://, user or port: the port has a field of its own */
    host: string
    /** 2101 where it is left out */
    port?: number
    /** letters, digits, _ . - */
    mount: string
    /** printable characters of any script without a colon; invisible characters, which pasted text may have at its ends, are refused */
    user?: string
    /** printable characters of any script without a space; invisible characters, which pasted text may have at its ends, are refused */
    password?: string
    /** NTRIP 1 (SOURCE) or 2 (POST); 1 */
    version?: 1 | 2
    /** TLS; the certificate of the other end is checked */
    tls?: boolean
    /** false: kept, but not pushed to; default true */
    enabled?: boolean
    /** Messages to send besides the position (1005 or 1006); default: all */
    messages?: Array<number>
    /** Observation interval in seconds; default: each epoch */
    interval_s?: number
    /** MSM5–7 are sent as MSM4, which saves about a third of the bytes of MSM7 */
    msm4?: boolean
    /** Observations for old rovers, 1004 and 1012: true: instead of MSM, beside: before them */
    legacy?: boolean | "beside"
    /** table: looks up its row in the source table; echo: also reads its own mountpoint; default table */
    proof?: "off" | "table" | "echo"
    /** a rover’s login for the echo; default: user and password */
    echo?: {
      /** printable characters of any script without a colon; invisible characters, which pasted text may have at its ends, are refused */
      user: string
      /** printable characters of any script without a space; invisible characters, which pasted text may have at its ends, are refused */
      password: string
    }
  }>
  /** PPP: account at CSRS-PPP. E-mail address of your account */
  "ppp-account"?: string
  /** PPP: repeat. Submits the previous day automatically */
  "ppp-repeat"?: "off" | "weekly" | "monthly"
  /** Record raw data */
  "raw-en"?: number | boolean
  /** Raw data: name of the point (marker). Empty: the serial number */
  "raw-marker"?: string
  /** Raw data: push to a server */
  "raw-push-en"?: number | boolean
  /** Raw data: login at the server. user:password, or a bearer token; empty: none */
  "raw-push-login"?: string
  /** Raw data: address of the server. https URL of a folder. The names of the files are appended */
  "raw-push-url"?: string
  /** Outage: restart the modem. 1: the modem is restarted if all other recovery steps fail */
  "recovery-modem"?: number | boolean
  /** Outage: modem restarts in 24 h, at most. Maximum number of restarts of the modem in 24 h */
  "recovery-modem-max"?: number
  /** Outage: minutes before a step. Minutes without any outbound connection before the station takes the next recovery step */
  "recovery-wait"?: number
  /** Radio modem on a serial port. e.g. { "port": "/dev/serial/by-id/usb-radio", "baud": 57600 }; { "port": "" }: none */
  "rtcm-serial"?: {
    /** a device path (best below /dev/serial/by-id) or tcp://host:port; empty: none */
    port: string
    /** rate of the line; default 57600 */
    baud?: number
    /** capacity of the radio, bytes per second; default: 80 % of the line */
    budget?: number
    /** For old rovers: 1004 and 1012 instead of MSM, and no messages newer than RTCM 3.1 */
    legacy?: boolean
  }
  /** RTCM over TCP: clients are old rovers. For old rovers: 1004 and 1012 instead of MSM */
  "rtcm-tcp-legacy"?: boolean
  /** RTCM over TCP: port. 0: closed */
  "rtcm-tcp-port"?: number
  /** RTCM over TCP: addresses to connect to. e.g. [{ "host": "192.168.1.7", "port": 5000 }]; [] for none */
  "rtcm-tcp-push"?: Array<{
    /** a host name or an address, without http://, user or port: the port has a field of its own */
    host: string
    /** TCP port */
    port: number
    /** For old rovers: 1004 and 1012 instead of MSM, and no messages newer than RTCM 3.1 */
    legacy?: boolean
  }>
  /** Router: password. empty: the protected store, the lookup and the defaults are tried */
  "rtr-pswd"?: string
  /** Router: user. empty: admin, then root */
  "rtr-user"?: string
  /** WiFi: the network hides its name. true: the station sends the name to find the network, and others can receive it */
  "sta-hidden"?: boolean
  /** WiFi: password. 8 to 63 printable characters, or 64 hexadecimal digits; empty: an open network */
  "sta-pswd"?: string
  /** WiFi: network. name of the network, at most 32 bytes in UTF-8; empty: no WiFi */
  "sta-ssid"?: string
  /** Name of the station. Shown on the page, in Home Assistant, and when the station is announced in the network */
  "station-name"?: string
  "trigger-gnss-survey"?: boolean
  /** RTCM over UDP */
  "udp-en"?: number | boolean
  /** RTCM over UDP: port */
  "udp-port"?: number
  /** Updates: newest version. URL (https or http) of the image of the newest version, for the check on request; empty: no check */
  "update-url"?: string
  /** Access point: channel */
  "wap-chan"?: number
  /** Access point */
  "wap-en"?: number | boolean
  /** Access point: silent clients are removed after, s. 0: clients are never removed */
  "wap-inactive-time"?: number
  /** Access point: maximum number of clients */
  "wap-max-sta"?: number
  /** Access point: password. WPA2: 8 to 63 printable characters, or 64 hexadecimal digits; empty: the device password */
  "wap-pswd"?: string
  /** Reverse gateway: DNS server. DNS server while the reverse gateway is used; empty: the gateway itself */
  "wap-revgw-dns"?: string
  /** Reverse gateway: MAC of the client. MAC of the access point client that provides internet access; empty: none */
  "wap-revgw-mac"?: string
  /** Access point: network name. at most 32 bytes in UTF-8 */
  "wap-ssid"?: string
  /** Access point: transmit power, dBm. dBm */
  "wap-txpwr"?: number
  /** WiFi: country. ISO 3166, e.g. NL; empty: the setting of the machine */
  "wifi-reg-cc"?: string
  [name: string]: unknown
}

export type ChangeAnswer = {
  result: "ok" | "failed"
  /** Submitted fields that belong to no plugin; all submitted fields if `failed` */
  leftover: Record<string, unknown>
  /** What is wrong with a `failed` change, or what the sender of a taken one should know: unknown names */
  errors?: Array<{
    name: string
    message: string
  }>
}

/** State of the connection */
export type ClientState = "off" | "idle" | "connecting" | "streaming" | "waiting"

/** A command: `name` or `name=value` */
export type Command = string

export type CommandEntry = {
  name: string
  help: string
  plugin: string
  /** Accepts text after `=` */
  value: boolean
  /** Warning before use, e.g. that RTCM stops meanwhile */
  caution?: string
  /** For a command group: the subcommands */
  words?: Array<string>
}

export type ErrorAnswer = {
  /** The code, e.g. `RTK_ERR_UNAVAILABLE` */
  error: string
  /** Description of the error */
  message: string
  /** Suggested remedy */
  help: string
  /** Location in the request */
  field?: string
}

/** The service and the machine that runs it */
export type EspInfo = {
  /** Release of the service */
  version: string
  /** Digest of the installed image, or of the source tree; hexadecimal */
  sha256: string
  /** Platform, e.g. `node v22.12.0` */
  idf: string
  /** Build time, ISO 8601 */
  built: string
  /** Serial number of the station */
  serial: string
  /** `hardware` of the variant */
  hardware: string
  /** Running slot; empty without slots */
  partition: string
  /** Number of your production line, stored by prodflag */
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
  /** MAC of the interface */
  mac: string
  /** `eth-en` */
  enabled: boolean
  /** a cable is plugged in, and the other end is powered */
  cable: boolean
  /** IPv4 address */
  ip: string
  /** IPv4 netmask, dotted */
  mask: string
  /** IPv4 address of the gateway */
  gw: string
  /** MACs of the neighbours on this interface */
  arp: Array<string>
}

/** Whether the base can serve rovers */
export type Fitness = "fit" | "degraded" | "unfit"

/** The receiver, its position and its reference */
export type GnssInfo = {
  /** Identity of a u-blox receiver */
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
  /** Identity of a receiver of any manufacturer */
  receiver: {
    /** e.g. u-blox; empty if the plugin does not report it */
    maker: string
    /** e.g. ZED-F9P; empty until identified */
    model: string
    /** e.g. HPG 1.32 */
    firmware: string
    /** Empty until identified, or if the receiver has none */
    serial: string
    /** Optional settings that the receiver does not take; it works without them */
    rejected: Array<string>
  }
  state: GnssState
  /** Settings */
  config: {
    /** The start-up check; all 0 without integrity: nothing is checked */
    startup: {
      /** gnss-initial-accuracy: required accuracy of the first position, metres */
      accuracy: number
      /** gnss-initial-max-delta: allowed distance to the reference, metres */
      delta_max: number
      /** gnss-initial-max-delta-corr: the same if both positions are RTK-corrected, metres */
      delta_max_corr: number
    }
    /** Identity of the station in RTCM */
    station: {
      /** gnss-station-id: sent in all RTCM messages; for a listen-only receiver its own */
      id: number
    }
    /** Incoming corrections */
    recvrtcm: {
      /** gnss-recvrtcm-max-age, seconds */
      max_age: number
    }
  }
  pos: GnssPos
  ref: GnssRef
  rtcm?: GnssRtcm
  neighbours?: GnssNeighbours
}

/** Comparison with neighbouring bases. Present while the plugin neighbours runs */
export type GnssNeighbours = {
  /** agrees: neighbours confirm the announced position. contradicts: at least two agree with each other against it. unknown: too little evidence */
  state: "agrees" | "contradicts" | "unknown"
  /** Effect of a contradiction. notes: it is only reported. degrades: the verdict is degraded. holds: no RTCM is sent */
  effect: "none" | "notes" | "degrades" | "holds"
  /** The result for people */
  text: string
  /** The difference found */
  offset: {
    /** True minus announced position, metres; invalid while state is unknown, to the east */
    east: number
    /** To the north, metres */
    north: number
    /** Up, metres */
    up: number
  }
  /** The neighbouring bases */
  list: Array<{
    /** Name, mountpoint or serial */
    name: string
    /** Origin of the stream, without login */
    source: string
    /** State of the stream */
    link: "connecting" | "streaming" | "waiting"
    /** Recorded epochs, one every 30 s, of the last hour */
    epochs: number
    /** Distance between the announced positions, metres; 0: unknown */
    dist: number
    /** Newest measured vector. fixed: to centimetres. none: there is none */
    status: "none" | "float" | "fixed"
    /** Measured minus announced vector, metres; invalid while status is none, to the east */
    east: number
    /** To the north, metres */
    north: number
    /** Up, metres */
    up: number
    /** Accuracy of this difference, 3D 1 sigma, metres */
    acc: number
    /** Seconds since this comparison */
    age: number
    /** Why there is no newer comparison, or what it shows; empty: nothing to report */
    text: string
    /** Significant movement of this station relative to the neighbour; empty: none */
    moved: string
  }>
}

/** The last position; in fixed mode it repeats the reference */
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
  /** 3D accuracy from the receiver, 1 sigma, metres; 0: unknown (NMEA-only receiver) */
  acc: number
  /** Distance of the antenna from the reference. In fixed mode it does not come from this position (which then repeats the reference), but from the second fix or the ranges, metres; 0: none */
  delta: number
  /** Height above the ellipsoid minus height above mean sea level, metres */
  "geoidal-seperation": number
  /** Time of the position, UTC seconds; 0: none */
  t: number
  /** The same time as YYYY-MM-DD_hh:mm:ss, UTC; empty if there is none */
  tm: string
}

/** The reference position */
export type GnssRef = {
  /** The manually entered reference, or that of an externally configured receiver */
  manual: {
    /** Empty: not set */
    type: "" | "ecef"
    /** ECEF X, metres */
    x: number
    /** ECEF Y, metres */
    y: number
    /** ECEF Z, metres */
    z: number
    /** Accuracy, 3D 1 sigma, metres; 0: unknown */
    acc: number
    /** Time of determination, or of the last 1005, UTC seconds; 0: none */
    t: number
    /** The same time as YYYY-MM-DD_hh:mm:ss, UTC; empty if there is none */
    tm: string
    /** The digits of the coordinates below 1 cm, down to 0.1 mm, are used */
    hp: boolean
    /** Determined with RTK corrections */
    corr: boolean
    /** Reference frame of the coordinates, e.g. ETRF2000; empty: unknown */
    frame: string
    /** Epoch of the frame, e.g. 2010.0; empty: unknown */
    epoch: string
    /** gnss-ref-manual-point: type of the entered point. Once there is a position, x, y, z are always the antenna reference point */
    point: "arp" | "phase-centre"
    /** gnss-ref-manual-offset: phase centre above the reference point, metres; used for phase-centre only */
    offset: number
    /** gnss-ref-manual-source: origin of the coordinates, if it was entered */
    source?: string
  }
  /** The surveyed reference */
  survey: {
    /** Empty: not set */
    type: "" | "ecef"
    /** ECEF X, metres */
    x: number
    /** ECEF Y, metres */
    y: number
    /** ECEF Z, metres */
    z: number
    /** Accuracy, 3D 1 sigma, metres; 0: unknown */
    acc: number
    /** Time of determination, or of the last 1005, UTC seconds; 0: none */
    t: number
    /** The same time as YYYY-MM-DD_hh:mm:ss, UTC; empty if there is none */
    tm: string
    /** The digits of the coordinates below 1 cm, down to 0.1 mm, are used */
    hp: boolean
    /** Determined with RTK corrections */
    corr: boolean
    /** Reference frame of the coordinates, e.g. ETRF2000; empty: unknown */
    frame: string
    /** Epoch of the frame, e.g. 2010.0; empty: unknown */
    epoch: string
    /** State of the newest survey-in */
    state: "none" | "running" | "complete" | "incomplete" | "aborted"
    /** 1 after use-incomplete-survey-in */
    allow_use: number
    /** Corrected survey-in: accuracy relative to the announced position of the correction source, metres; compared with accuracy_corr_dyn */
    acc_corr: number
    /** Required accuracy of a corrected survey-in, including the distance-dependent part, metres */
    accuracy_corr_dyn: number
    /** Duration of the survey-in, seconds */
    elapsed: number
    /** Epochs of the survey-in */
    count: number
    /** Corrections during the survey-in */
    rtcm: {
      /** Seconds since the last correction; invalid while count is 0 */
      age: number
      /** Correction messages during the survey-in */
      count: number
      /** Sender */
      remote: string
      /** Distance to the reference point of the sender, metres; invalid while count is 0 */
      dist: number
    }
    /** Settings of the survey-in; zeros if no plugin runs one */
    config: {
      /** gnss-survey-mintime, seconds */
      mintime: number
      /** gnss-survey-maxtime, seconds */
      maxtime: number
      /** gnss-survey-accuracy, metres */
      accuracy: number
      /** gnss-survey-accuracy-corr, metres */
      accuracy_corr: number
      /** gnss-recvrtcm-frame: reference frame of the correction source; empty: unknown */
      frame_corr: string
      /** gnss-recvrtcm-epoch: epoch of this frame; empty: unknown */
      epoch_corr: string
    }
  }
  /** The selected reference */
  chosen: "manual" | "survey"
  /** The frame and epoch in which the chosen reference is announced */
  announced?: {
    /** gnss-announce-frame; empty: the frame of the reference, unchanged */
    frame: string
    /** gnss-announce-epoch, decimal year; 0: that of the reference */
    epoch: number
    /** gnss-plate; empty: unknown */
    plate: string
    /** Distance by which the motion of the plate changes the true coordinates in a year, if frame, epoch, plate and time are known, metres */
    drift?: number
    /** The same distance since the epoch of the announced coordinates, metres */
    away?: number
  }
  /** confirm-position: a person confirmed the chosen reference although the antenna seemed to have moved. Only until another reference is used */
  override?: {
    /** Time of the confirmation, UTC seconds; 0 without a credible clock */
    t: number
    /** The same time as YYYY-MM-DD_hh:mm:ss, UTC; empty if there is none */
    tm: string
    /** Interface over which the command came: http, mqtt, console or plugin */
    by: string
    /** Distance of the antenna from the reference at that time, by positions, metres */
    distance: number
    /** East component of this distance, metres */
    east: number
    /** North component, metres */
    north: number
    /** Up component, metres */
    up: number
    /** Evidence of the move; empty: the result of the start-up check */
    evidence: string
  }
}

/** Outgoing RTCM */
export type GnssRtcm = {
  /** Messages by number */
  msgs: Array<{
    /** Message number */
    id: number
    /** Mean interval, seconds */
    interval?: number
    /** Seconds since the last message with this number */
    since?: number
    /** Configured interval, seconds, if known */
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
  /** Clients and relays that receive RTCM, at most 64, those heard most recently */
  subscribers: Array<{
    /** Output, e.g. udp */
    via: string
    /** Name given by the subscriber */
    name: string
    /** Seconds since the subscriber was last heard; 0 while connected (TCP) */
    seen: number
    /** Address */
    ip: string
  }>
  /** The entered antenna data, sent in 1006, 1008 and 1033 */
  antenna: {
    /** gnss-antenna-descriptor: IGS name; empty: not sent */
    descriptor: string
    /** gnss-antenna-serial */
    serial: string
    /** gnss-antenna-height: reference point above the marker, metres; 0: not sent */
    height: number
  }
}

/** Current state of the receiver */
export type GnssState = {
  /** Receiver time once resolved, else device time, UTC seconds; 0: none */
  time: number
  /** The same time as YYYY-MM-DD_hh:mm:ss, UTC; empty if there is none */
  tm: string
  status: GnssStatus
  gps_fix: GpsFixName
  /** The last epoch used corrections */
  corrected: boolean
  /** Seconds since the receiver started, as it reports; 0: unknown */
  uptime: number
  /** Time to first fix, seconds; 0: unknown or none yet */
  time_first_fix: number
  /** Satellites received */
  satvis: number
  /** Satellites used */
  satuse: number
  /** 1 while corrections are wanted */
  want_corr: number
  /** The antenna. Times are 0 while the clock is unknown */
  antenna: {
    /** 0 off, 1 on, 2 unknown */
    power: number
    /** From the antenna supervisor of the receiver; unknown: absent or switched off */
    status: "init" | "unknown" | "ok" | "short" | "open"
    /** Number of transitions to short or open since the service started */
    failcnt: number
    /** Last time the status was short or open, UTC seconds; 0: none */
    failtime: number
    /** Last time the status was ok, UTC seconds; 0: none */
    oktime: number
  }
  rf: RfInfo
  /** Antenna motion from the carrier phases. Present while integrity runs */
  motion?: {
    /** Displacement of the antenna within 10 s, metres; invalid while satellites is 0 */
    net: number
    /** RMS distance from the mean position over 10 s, metres; invalid while satellites is 0 */
    sway: number
    /** Satellites that agree on the displacement; 0: unknown, e.g. just after a start */
    satellites: number
    /** Share of the satellites that lost carrier lock within 3 s */
    lost: number
    /** How far the antenna is from where it was trusted. Only while a move is suspected and was measured */
    move?: {
      /** The evidence: carrier phases (centimetres) or code (metres) */
      by: "phases" | "code"
      /** When the antenna left, UTC seconds; 0 without a credible clock */
      t: number
      /** Distance from where it was, metres */
      size_m: number
      /** It went at least so far: it is on the way, or only a bound is known */
      at_least: boolean
      /** In how many moves */
      moves: number
      /** Component to the east, metres; absent, as all that follow, if the direction is unknown */
      east_m?: number
      /** Component to the north, metres */
      north_m?: number
      /** Component upwards, metres */
      up_m?: number
      /** Standard deviation of east_m, metres */
      sigma_east_m?: number
      /** Standard deviation of north_m, metres */
      sigma_north_m?: number
      /** Standard deviation of up_m, metres */
      sigma_up_m?: number
    }
  }
  /** Incoming corrections */
  recvrtcm: {
    /** Seconds since the first correction of the current source; invalid while count is 0 */
    elapsed: number
    /** Seconds since the last correction; invalid while count is 0 */
    age: number
    /** Correction messages accepted */
    count: number
    /** Packets accepted */
    packets: number
    /** Sender; empty if none */
    remote: string
    /** Distance to the reference point of the source, metres; invalid while count is 0 */
    dist: number
  }
}

/** offline: no port. stalled: the port is open but silent. identify, configure: the receiver is queried and configured. acquire: no fix or no RTCM yet. initial: the first position is checked. survey: a survey-in is running. fixed: the receiver is a base and RTCM flows (listen-only receiver: RTCM flows). moved: the antenna is not at its reference position. fault: the receiver does not work as configured */
export type GnssStatus = "offline" | "stalled" | "identify" | "configure" | "acquire" | "initial" | "survey" | "fixed" | "moved" | "fault"

/** Type of fix. time: fixed position of a base. none: also if the last epoch is older than 5 s */
export type GpsFixName = "none" | "dead-reckoning" | "2d" | "3d" | "3d-dr" | "time" | "rtk-float" | "rtk-fixed"

/** The status document. A block is present while its plugin runs. Other plugins add further blocks */
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

/** The part of the status document that a mask selects: any field may be missing */
export type InfoDocumentPart = {
  /** The service and the machine that runs it */
  esp?: {
    /** Release of the service */
    version?: string
    /** Digest of the installed image, or of the source tree; hexadecimal */
    sha256?: string
    /** Platform, e.g. `node v22.12.0` */
    idf?: string
    /** Build time, ISO 8601 */
    built?: string
    /** Serial number of the station */
    serial?: string
    /** `hardware` of the variant */
    hardware?: string
    /** Running slot; empty without slots */
    partition?: string
    /** Number of your production line, stored by prodflag */
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
    /** Identity of a u-blox receiver */
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
    /** Identity of a receiver of any manufacturer */
    receiver?: {
      /** e.g. u-blox; empty if the plugin does not report it */
      maker?: string
      /** e.g. ZED-F9P; empty until identified */
      model?: string
      /** e.g. HPG 1.32 */
      firmware?: string
      /** Empty until identified, or if the receiver has none */
      serial?: string
      /** Optional settings that the receiver does not take; it works without them */
      rejected?: Array<string>
    }
    /** Current state of the receiver */
    state?: {
      /** Receiver time once resolved, else device time, UTC seconds; 0: none */
      time?: number
      /** The same time as YYYY-MM-DD_hh:mm:ss, UTC; empty if there is none */
      tm?: string
      status?: GnssStatus
      gps_fix?: GpsFixName
      /** The last epoch used corrections */
      corrected?: boolean
      /** Seconds since the receiver started, as it reports; 0: unknown */
      uptime?: number
      /** Time to first fix, seconds; 0: unknown or none yet */
      time_first_fix?: number
      /** Satellites received */
      satvis?: number
      /** Satellites used */
      satuse?: number
      /** 1 while corrections are wanted */
      want_corr?: number
      /** The antenna. Times are 0 while the clock is unknown */
      antenna?: {
        /** 0 off, 1 on, 2 unknown */
        power?: number
        /** From the antenna supervisor of the receiver; unknown: absent or switched off */
        status?: "init" | "unknown" | "ok" | "short" | "open"
        /** Number of transitions to short or open since the service started */
        failcnt?: number
        /** Last time the status was short or open, UTC seconds; 0: none */
        failtime?: number
        /** Last time the status was ok, UTC seconds; 0: none */
        oktime?: number
      }
      /** Interference, spoofing, and signals */
      rf?: {
        /** Interference in the worst band. warning: detected, critical: the receiver cannot work, unknown: not monitored */
        jamming?: "unknown" | "ok" | "warning" | "critical"
        /** Signs of spoofed satellites detected by the receiver: none, one kind, or several */
        spoofing?: "unknown" | "none" | "indicated" | "multiple"
        /** Cycle slips: share of the carrier-phase observations of the last 5 min whose signal lost lock after the previous observation, % */
        slips?: number
        /** Interference by band; empty while the receiver does not report it */
        bands?: Array<{
          /** L1, L2, L5 or L6: a receiver input with all its signals, e.g. Galileo E5b in L2 */
          band: string
          /** Interference in the band */
          jamming: "unknown" | "ok" | "warning" | "critical"
          /** Continuous-wave interference, 0 to 255 (strong) */
          indicator?: number
          /** Gain of the input, %; interference lowers it */
          agc?: number
          /** Noise level, receiver units */
          noise?: number
        }>
        /** Signals by constellation */
        constellations?: Array<{
          /** gps, glonass, galileo, beidou; others if received */
          name: string
          /** Signals that the receiver is configured to track; empty: none, or unknown (listen-only) */
          expected: Array<string>
          /** Signals received in the last 10 s */
          seen: Array<string>
          /** Satellites received */
          satellites: number
        }>
      }
      /** Antenna motion from the carrier phases. Present while integrity runs */
      motion?: {
        /** Displacement of the antenna within 10 s, metres; invalid while satellites is 0 */
        net?: number
        /** RMS distance from the mean position over 10 s, metres; invalid while satellites is 0 */
        sway?: number
        /** Satellites that agree on the displacement; 0: unknown, e.g. just after a start */
        satellites?: number
        /** Share of the satellites that lost carrier lock within 3 s */
        lost?: number
        /** How far the antenna is from where it was trusted. Only while a move is suspected and was measured */
        move?: {
          /** The evidence: carrier phases (centimetres) or code (metres) */
          by?: "phases" | "code"
          /** When the antenna left, UTC seconds; 0 without a credible clock */
          t?: number
          /** Distance from where it was, metres */
          size_m?: number
          /** It went at least so far: it is on the way, or only a bound is known */
          at_least?: boolean
          /** In how many moves */
          moves?: number
          /** Component to the east, metres; absent, as all that follow, if the direction is unknown */
          east_m?: number
          /** Component to the north, metres */
          north_m?: number
          /** Component upwards, metres */
          up_m?: number
          /** Standard deviation of east_m, metres */
          sigma_east_m?: number
          /** Standard deviation of north_m, metres */
          sigma_north_m?: number
          /** Standard deviation of up_m, metres */
          sigma_up_m?: number
        }
      }
      /** Incoming corrections */
      recvrtcm?: {
        /** Seconds since the first correction of the current source; invalid while count is 0 */
        elapsed?: number
        /** Seconds since the last correction; invalid while count is 0 */
        age?: number
        /** Correction messages accepted */
        count?: number
        /** Packets accepted */
        packets?: number
        /** Sender; empty if none */
        remote?: string
        /** Distance to the reference point of the source, metres; invalid while count is 0 */
        dist?: number
      }
    }
    /** Settings */
    config?: {
      /** The start-up check; all 0 without integrity: nothing is checked */
      startup?: {
        /** gnss-initial-accuracy: required accuracy of the first position, metres */
        accuracy?: number
        /** gnss-initial-max-delta: allowed distance to the reference, metres */
        delta_max?: number
        /** gnss-initial-max-delta-corr: the same if both positions are RTK-corrected, metres */
        delta_max_corr?: number
      }
      /** Identity of the station in RTCM */
      station?: {
        /** gnss-station-id: sent in all RTCM messages; for a listen-only receiver its own */
        id?: number
      }
      /** Incoming corrections */
      recvrtcm?: {
        /** gnss-recvrtcm-max-age, seconds */
        max_age?: number
      }
    }
    /** The last position; in fixed mode it repeats the reference */
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
      /** 3D accuracy from the receiver, 1 sigma, metres; 0: unknown (NMEA-only receiver) */
      acc?: number
      /** Distance of the antenna from the reference. In fixed mode it does not come from this position (which then repeats the reference), but from the second fix or the ranges, metres; 0: none */
      delta?: number
      /** Height above the ellipsoid minus height above mean sea level, metres */
      "geoidal-seperation"?: number
      /** Time of the position, UTC seconds; 0: none */
      t?: number
      /** The same time as YYYY-MM-DD_hh:mm:ss, UTC; empty if there is none */
      tm?: string
    }
    /** The reference position */
    ref?: {
      /** The manually entered reference, or that of an externally configured receiver */
      manual?: {
        /** Empty: not set */
        type?: "" | "ecef"
        /** ECEF X, metres */
        x?: number
        /** ECEF Y, metres */
        y?: number
        /** ECEF Z, metres */
        z?: number
        /** Accuracy, 3D 1 sigma, metres; 0: unknown */
        acc?: number
        /** Time of determination, or of the last 1005, UTC seconds; 0: none */
        t?: number
        /** The same time as YYYY-MM-DD_hh:mm:ss, UTC; empty if there is none */
        tm?: string
        /** The digits of the coordinates below 1 cm, down to 0.1 mm, are used */
        hp?: boolean
        /** Determined with RTK corrections */
        corr?: boolean
        /** Reference frame of the coordinates, e.g. ETRF2000; empty: unknown */
        frame?: string
        /** Epoch of the frame, e.g. 2010.0; empty: unknown */
        epoch?: string
        /** gnss-ref-manual-point: type of the entered point. Once there is a position, x, y, z are always the antenna reference point */
        point?: "arp" | "phase-centre"
        /** gnss-ref-manual-offset: phase centre above the reference point, metres; used for phase-centre only */
        offset?: number
        /** gnss-ref-manual-source: origin of the coordinates, if it was entered */
        source?: string
      }
      /** The surveyed reference */
      survey?: {
        /** Empty: not set */
        type?: "" | "ecef"
        /** ECEF X, metres */
        x?: number
        /** ECEF Y, metres */
        y?: number
        /** ECEF Z, metres */
        z?: number
        /** Accuracy, 3D 1 sigma, metres; 0: unknown */
        acc?: number
        /** Time of determination, or of the last 1005, UTC seconds; 0: none */
        t?: number
        /** The same time as YYYY-MM-DD_hh:mm:ss, UTC; empty if there is none */
        tm?: string
        /** The digits of the coordinates below 1 cm, down to 0.1 mm, are used */
        hp?: boolean
        /** Determined with RTK corrections */
        corr?: boolean
        /** Reference frame of the coordinates, e.g. ETRF2000; empty: unknown */
        frame?: string
        /** Epoch of the frame, e.g. 2010.0; empty: unknown */
        epoch?: string
        /** State of the newest survey-in */
        state?: "none" | "running" | "complete" | "incomplete" | "aborted"
        /** 1 after use-incomplete-survey-in */
        allow_use?: number
        /** Corrected survey-in: accuracy relative to the announced position of the correction source, metres; compared with accuracy_corr_dyn */
        acc_corr?: number
        /** Required accuracy of a corrected survey-in, including the distance-dependent part, metres */
        accuracy_corr_dyn?: number
        /** Duration of the survey-in, seconds */
        elapsed?: number
        /** Epochs of the survey-in */
        count?: number
        /** Corrections during the survey-in */
        rtcm?: {
          /** Seconds since the last correction; invalid while count is 0 */
          age?: number
          /** Correction messages during the survey-in */
          count?: number
          /** Sender */
          remote?: string
          /** Distance to the reference point of the sender, metres; invalid while count is 0 */
          dist?: number
        }
        /** Settings of the survey-in; zeros if no plugin runs one */
        config?: {
          /** gnss-survey-mintime, seconds */
          mintime?: number
          /** gnss-survey-maxtime, seconds */
          maxtime?: number
          /** gnss-survey-accuracy, metres */
          accuracy?: number
          /** gnss-survey-accuracy-corr, metres */
          accuracy_corr?: number
          /** gnss-recvrtcm-frame: reference frame of the correction source; empty: unknown */
          frame_corr?: string
          /** gnss-recvrtcm-epoch: epoch of this frame; empty: unknown */
          epoch_corr?: string
        }
      }
      /** The selected reference */
      chosen?: "manual" | "survey"
      /** The frame and epoch in which the chosen reference is announced */
      announced?: {
        /** gnss-announce-frame; empty: the frame of the reference, unchanged */
        frame?: string
        /** gnss-announce-epoch, decimal year; 0: that of the reference */
        epoch?: number
        /** gnss-plate; empty: unknown */
        plate?: string
        /** Distance by which the motion of the plate changes the true coordinates in a year, if frame, epoch, plate and time are known, metres */
        drift?: number
        /** The same distance since the epoch of the announced coordinates, metres */
        away?: number
      }
      /** confirm-position: a person confirmed the chosen reference although the antenna seemed to have moved. Only until another reference is used */
      override?: {
        /** Time of the confirmation, UTC seconds; 0 without a credible clock */
        t?: number
        /** The same time as YYYY-MM-DD_hh:mm:ss, UTC; empty if there is none */
        tm?: string
        /** Interface over which the command came: http, mqtt, console or plugin */
        by?: string
        /** Distance of the antenna from the reference at that time, by positions, metres */
        distance?: number
        /** East component of this distance, metres */
        east?: number
        /** North component, metres */
        north?: number
        /** Up component, metres */
        up?: number
        /** Evidence of the move; empty: the result of the start-up check */
        evidence?: string
      }
    }
    /** Outgoing RTCM */
    rtcm?: {
      /** Messages by number */
      msgs?: Array<{
        /** Message number */
        id: number
        /** Mean interval, seconds */
        interval?: number
        /** Seconds since the last message with this number */
        since?: number
        /** Configured interval, seconds, if known */
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
      /** Clients and relays that receive RTCM, at most 64, those heard most recently */
      subscribers?: Array<{
        /** Output, e.g. udp */
        via: string
        /** Name given by the subscriber */
        name: string
        /** Seconds since the subscriber was last heard; 0 while connected (TCP) */
        seen: number
        /** Address */
        ip: string
      }>
      /** The entered antenna data, sent in 1006, 1008 and 1033 */
      antenna?: {
        /** gnss-antenna-descriptor: IGS name; empty: not sent */
        descriptor?: string
        /** gnss-antenna-serial */
        serial?: string
        /** gnss-antenna-height: reference point above the marker, metres; 0: not sent */
        height?: number
      }
    }
    /** Comparison with neighbouring bases. Present while the plugin neighbours runs */
    neighbours?: {
      /** agrees: neighbours confirm the announced position. contradicts: at least two agree with each other against it. unknown: too little evidence */
      state?: "agrees" | "contradicts" | "unknown"
      /** Effect of a contradiction. notes: it is only reported. degrades: the verdict is degraded. holds: no RTCM is sent */
      effect?: "none" | "notes" | "degrades" | "holds"
      /** The result for people */
      text?: string
      /** The difference found */
      offset?: {
        /** True minus announced position, metres; invalid while state is unknown, to the east */
        east?: number
        /** To the north, metres */
        north?: number
        /** Up, metres */
        up?: number
      }
      /** The neighbouring bases */
      list?: Array<{
        /** Name, mountpoint or serial */
        name: string
        /** Origin of the stream, without login */
        source: string
        /** State of the stream */
        link: "connecting" | "streaming" | "waiting"
        /** Recorded epochs, one every 30 s, of the last hour */
        epochs: number
        /** Distance between the announced positions, metres; 0: unknown */
        dist: number
        /** Newest measured vector. fixed: to centimetres. none: there is none */
        status: "none" | "float" | "fixed"
        /** Measured minus announced vector, metres; invalid while status is none, to the east */
        east: number
        /** To the north, metres */
        north: number
        /** Up, metres */
        up: number
        /** Accuracy of this difference, 3D 1 sigma, metres */
        acc: number
        /** Seconds since this comparison */
        age: number
        /** Why there is no newer comparison, or what it shows; empty: nothing to report */
        text: string
        /** Significant movement of this station relative to the neighbour; empty: none */
        moved: string
      }>
    }
  }
  /** The base: its state, its verdict, updates, LEDs */
  base?: {
    /** Name that people gave the station (`station-name`); may be empty */
    name?: string
    state?: {
      base?: BaseStateName
      /** Overall verdict on the base */
      verdict?: {
        fitness?: Fitness
        /** Code of the deciding rule; `ok` if nothing is wrong */
        code?: string
        /** Reason, one sentence */
        why?: string
        /** Suggested remedy; empty if none is needed */
        advice?: string
        /** Time of the last change of `fitness` or `code`, UTC seconds; 0 without a credible clock */
        since?: number
        /** Seconds since `fitness` or `code` last changed */
        for_s?: number
        /** Code of `why` and `advice`; of an error if they are its text */
        why_code?: string
        /** The numbers and words that vary in the text, for translations */
        values?: Record<string, string | number | boolean>
      }
      /** Current errors, newest last */
      errors?: Array<{
        /** Error code */
        code: string
        /** Problem, then advice after a semicolon */
        text: string
        /** The numbers and words that vary in the text, for translations */
        values?: Record<string, string | number | boolean>
        /** Start of the error, UTC seconds; 0 without a credible clock */
        t: number
      }>
      /** An unconfirmed change that may have disconnected its caller, if there is one */
      trial?: {
        /** The changed parameters */
        parameters?: Array<string>
        /** Seconds until the old values are restored */
        left_s?: number
      }
    }
    /** The system clock */
    clock?: {
      /** Source that synchronises the system clock */
      kept?: "ntp" | "receiver" | "nobody" | "unknown"
      /** Receiver time minus system clock, seconds; 0 while the receiver reports no time */
      offset?: number
      /** Port on 127.0.0.1 that serves the receiver time now; 0: none */
      served?: number
    }
    /** The machine; at most 10 s old when it is asked for repeatedly */
    machine?: {
      /** Of the hottest part that has a sensor, °C; omitted without one */
      temp?: number
      /** The disk with the data folder, bytes; omitted if it cannot be asked */
      disk?: {
        free?: number
        size?: number
      }
      /** The supply voltage is or was too low since the start; omitted if the machine does not measure it */
      undervoltage?: boolean
    }
    update?: {
      state?: UpdateStateName
      /** The last update failed; false again once the next one begins */
      failed?: boolean
      /** Progress of the step in `state`, percent */
      progress?: number
    }
    log?: {
      /** `log-save-period`, seconds; 0: only when the service stops */
      save_period?: number
    }
    leds?: {
      red?: {
        /** Repeating pattern; empty if the station lacks this LED */
        pattern?: Array<{
          /** Colour 0xRRGGBB */
          v: number
          /** Seconds */
          t: number
        }>
      }
      green?: {
        /** Repeating pattern; empty if the station lacks this LED */
        pattern?: Array<{
          /** Colour 0xRRGGBB */
          v: number
          /** Seconds */
          t: number
        }>
      }
      rgb?: {
        /** Repeating pattern; empty if the station lacks this LED */
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
    /** MAC of the interface */
    mac?: string
    /** `eth-en` */
    enabled?: boolean
    /** a cable is plugged in, and the other end is powered */
    cable?: boolean
    /** IPv4 address */
    ip?: string
    /** IPv4 netmask, dotted */
    mask?: string
    /** IPv4 address of the gateway */
    gw?: string
    /** MACs of the neighbours on this interface */
    arp?: Array<string>
  }
  wap?: {
    /** MAC of the access point; empty while it is not up */
    bssid?: string
    /** name of the network */
    ssid?: string
    /** `wap-en` */
    enabled?: boolean
    /** current password of the access point; empty for a viewer */
    pwd?: string
    /** current transmit power, dBm; 0 while the access point is not up */
    tx_power?: number
    /** maximum number of clients; 0: unknown, or the access point is not up */
    max_sta?: number
    /** beacon interval, time units of 1.024 ms; 0: unknown, or the access point is not up */
    beacon?: number
    /** width of the channel, MHz; 0 while the access point is not up */
    bandwidth?: number
    /** 2.4 GHz channel */
    channel?: number
    /** s of silence after which a client is removed; 0: never */
    inactive_time?: number
    reg?: {
      /** current country, ISO 3166 */
      cc?: string
      /** highest 2.4 GHz channel allowed in the country */
      max_chan?: number
      /** highest transmit power allowed in the country, dBm */
      max_txpwr?: number
    }
    revgw?: {
      /** `wap-revgw-mac`: client that provides internet access */
      mac?: string
      /** address of this client; empty: unknown */
      ip?: string
      /** DNS server of this connection */
      dns?: string
    }
    /** clients of the access point, strongest first */
    sta?: Array<{
      /** MAC of the client */
      mac: string
      /** from the DHCP leases; empty: unknown */
      ip: string
      /** signal strength of the client, dBm */
      rssi: number
    }>
  }
  sta?: {
    /** MAC of the interface */
    mac?: string
    /** `sta-ssid` */
    ssid?: string
    /** MAC of the joined access point; empty while not joined */
    bssid?: string
    /** Authentication of the joined network; invalid while `bssid` is empty */
    auth?: "open" | "wep" | "wpa-psk" | "wpa2-psk" | "wpa3-sae" | "wpa-eap"
    /** IPv4 address */
    ip4?: string
    /** IPv6 addresses */
    ip6?: Array<string>
    /** s since the last frame from the access point */
    inactive_time?: number
    /** channel of the joined network; 0 while not joined */
    channel?: number
    /** second channel of a 40 MHz network, 0 if none */
    channel2?: number
    /** width of the channel, MHz */
    bandwidth?: number
    /** signal strength of the access point, dBm */
    rssi?: number
  }
  udp?: {
    /** `udp-en` */
    enabled?: boolean
    /** `udp-port` */
    port?: number
  }
  mqtt?: {
    /** uplink that reaches the broker: `eth`, `sta` (WiFi), `cellular` or empty */
    via?: string
    /** broker in use; empty: none */
    host?: string
    /** port of the broker in use */
    port?: number
    state?: {
      link?: MqttLinkState
      cert?: {
        /** start of validity, UTC seconds; 0 without a certificate */
        from?: number
        /** expiry, UTC seconds; 0 without a certificate */
        until?: number
        /** serial number, hexadecimal; empty without a certificate */
        serial?: string
      }
      error?: {
        cause?: MqttFailureCause
        /** the cause as a sentence */
        text?: string
      }
    }
    stat?: {
      /** sessions that a broker accepted */
      sessions?: number
      /** publications of the status document that were due but not sent */
      missed?: number
      /** retained requests that were dropped */
      retained?: number
      /** invalid messages on `cmd` and `change/post` */
      malformed?: number
    }
    rtcm?: {
      /** mqtt-rtcm runs and `mqtt-en` is 1: RTCM is sent while the reference is trusted and the link is up */
      enabled?: boolean
      /** RTCM flows, and the newest publication was sent */
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
    /** MAC of the Ethernet port, upper case with colons */
    macaddr?: string
    /** product code */
    hw?: string
    /** hardware version */
    hwver?: string
    /** production batch */
    hwbatch?: string
    /** firmware version reported by the router */
    swver?: string
    state?: {
      /** seconds since the router started */
      uptime?: number
      /** router clock, epoch seconds */
      time?: number
      /** seconds since the oldest of the live values was read; 0 while not online */
      age?: number
      link?: RouterLinkState
      /** why the link is not `online`; empty while it is online */
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
    /** credentials in the protected store, saved after a login or set with `--protected` */
    default?: {
      user?: string
      pswd?: string
    }
    /** SHA-256 of the pinned certificate, hexadecimal; empty over plain HTTP */
    certificate?: string
    /** same as `wap.ssid` */
    "wap-ssid"?: string
    /** model of the modem */
    model?: string
    /** IMEI of the modem */
    imei?: string
    /** ICCID of the SIM */
    "sim-iccid"?: string
    /** IMSI of the SIM */
    "sim-imsi"?: string
    /** name of the network in use */
    operator?: string
    /** e.g. LTE */
    "network-type"?: string
    /** ID of the cell */
    "cell-id"?: string
    /** MCC and MNC of the network; 0: unknown */
    plmn?: number
    /** RSSI, dBm; 0: unknown */
    signal?: number
    /** a mobile data connection is up */
    connected?: boolean
  }
  modem?: {
    imei?: string
    model?: string
    manuf?: string
    /** firmware of the modem */
    rev?: string
    support?: {
      /** the modem can list and select operators */
      operator?: boolean
    }
    state?: {
      network?: ModemNetwork
      /** full name of the network in use */
      operator?: string
      /** name of the provider, often the same as `operator` */
      carrier?: string
      /** `connected`, `disconnected` or empty while unknown */
      data?: string
      /** e.g. LTE */
      connection_type?: string
      /** ID of the cell */
      cell_id?: string
      /** dBm; 0: unknown */
      rssi?: number
      /** MCC and MNC of the network; 0: not registered */
      plmn?: number
      /** degrees Celsius; valid only while `temp_valid` */
      temp?: number
      /** the modem reports its temperature */
      temp_valid?: boolean
      /** running and waiting jobs: `scan`, `operator`, `apn`, `reboot` */
      pending?: Array<string>
      /** dBm */
      rsrp?: number
      /** dB */
      rsrq?: number
      /** dB */
      sinr?: number
    }
    cfg?: {
      /** MCC and MNC of the operator selected by hand; 0: automatic */
      plmn?: number
      /** the router restarts if this host does not answer pings; empty: off */
      ping_reboot?: string
      /** APN configured in the router */
      apn?: string
      user?: string
      pswd?: string
      apn_choice?: {
        /** `user` (mob-apn), `table`, `router` (unchanged) or empty */
        from?: string
        /** operator of the SIM, from the APN table; empty: unknown */
        carrier?: string
        /** other APNs in the table for this SIM, the most likely first */
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
      /** bytes, counted by the router */
      sent?: number
      /** bytes, counted by the router */
      recvd?: number
    }
    /** result of the last `mobile-scan` */
    scan?: Array<{
      /** MCC and MNC */
      plmn: number
      /** name of the operator */
      name: string
      /** bitmask: 256 GSM, 258 LTE, 4 any other */
      act: number
    }>
    /** the last 24 h, every 5 min; only if the mask selects detail fields */
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
  /** Outbound connections, and the recovery when every one of them is down */
  links?: {
    /** The first 12 links; texts are truncated */
    outputs?: Array<LinkInfo>
    recovery?: {
      /** Seconds for which every link has been down; 0: at least one is up */
      outage?: number
      /** Current wait and next step; empty while nothing is wrong */
      text?: string
      /** Interface that recovery gave the default route; empty: the network decides */
      uplink?: string
      /** Restarts of the modem in the last 24 h */
      restarts?: number
      /** The last steps, newest last */
      steps?: Array<{
        /** Time of the step, UTC seconds */
        t: number
        /** uplink: another uplink got the default route. back: the usual uplink got it back. modem: the modem restarted */
        step: "uplink" | "modem" | "back"
        /** The step and its reason */
        text: string
        /** false: the step failed */
        done: boolean
      }>
    }
  }
  ntrip?: {
    caster?: {
      /** `ntrip-caster-en` */
      enabled?: boolean
      /** port of the caster; 0 while closed */
      port?: number
      /** port with TLS, 0 without */
      tls?: number
      /** mountpoints of the station's own stream */
      mounts?: Array<string>
      /** number of logins */
      users?: number
      /** number of connected rovers */
      connected?: number
      /** number of refused requests */
      refused?: number
      /** the newest 8 */
      rovers?: Array<NtripRover>
      /** mountpoints of third-party bases */
      bases?: Array<NtripBase>
    }
    /** Casters to which the station pushes */
    server?: Array<{
      host: string
      port: number
      mount: string
      /** NTRIP version */
      version: 1 | 2
      tls: boolean
      state: PushState
      /** the error, or the proof of delivery, for a person */
      text: string
      /** s until the next attempt */
      next: number
      /** s since the caster accepted the push */
      since: number
      /** address of the connected peer */
      ip: string
      /** number of writes sent */
      sent: number
      /** number of writes dropped because the caster is slow */
      dropped: number
    }>
    client?: {
      host?: string
      port?: number
      mount?: string
      state?: ClientState
      /** reason for waiting */
      text?: string
      /** s until the next attempt */
      next?: number
      /** messages received */
      frames?: number
    }
  }
  rtcm_tcp?: {
    /** port for clients; 0: closed */
    port?: number
    /** number of connected clients */
    connected?: number
    /** Addresses to which the station connects */
    push?: Array<{
      host: string
      port: number
      /** waiting: for the next attempt */
      state: "connecting" | "connected" | "waiting"
      /** reason for waiting */
      text: string
      /** number of dropped epochs */
      dropped: number
    }>
  }
  rtcm_serial?: {
    /** device path or tcp://host:port */
    port?: string
    /** rate of the line, bit/s */
    baud?: number
    /** capacity that may be used, bytes per second */
    budget?: number
    /** off: no port is set. waiting: the port cannot be opened, and is tried again */
    state?: "off" | "open" | "waiting"
    /** reason for waiting */
    text?: string
    /** current reduction of the stream */
    sends?: string
    /** bytes sent */
    sent?: number
    /** number of dropped epochs */
    dropped?: number
  }
}

export type LinkInfo = {
  /** Plugin and peer (host:port); without user or password */
  name: string
  /** State of the link */
  state: "idle" | "down" | "refused" | "up"
  /** Why the link is not up; empty while it is up */
  reason: string
  /** Seconds in this state */
  since: number
  /** Failed attempts since the link was last up */
  attempts: number
  /** Strategy of the next attempt */
  step: "reconnect" | "resolve" | "family"
  /** 4 or 6: IP version of the connection or of the last attempt; 0 unknown */
  family: number
  /** Seconds until the next attempt; 0: in progress, or none is planned */
  next: number
}

/** Outbound connections, and the recovery when every one of them is down */
export type LinksInfo = {
  /** The first 12 links; texts are truncated */
  outputs: Array<LinkInfo>
  recovery: {
    /** Seconds for which every link has been down; 0: at least one is up */
    outage: number
    /** Current wait and next step; empty while nothing is wrong */
    text: string
    /** Interface that recovery gave the default route; empty: the network decides */
    uplink: string
    /** Restarts of the modem in the last 24 h */
    restarts: number
    /** The last steps, newest last */
    steps: Array<{
      /** Time of the step, UTC seconds */
      t: number
      /** uplink: another uplink got the default route. back: the usual uplink got it back. modem: the modem restarted */
      step: "uplink" | "modem" | "back"
      /** The step and its reason */
      text: string
      /** false: the step failed */
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
    /** the modem can list and select operators */
    operator: boolean
  }
  state: {
    network: ModemNetwork
    /** full name of the network in use */
    operator: string
    /** name of the provider, often the same as `operator` */
    carrier: string
    /** `connected`, `disconnected` or empty while unknown */
    data: string
    /** e.g. LTE */
    connection_type: string
    /** ID of the cell */
    cell_id: string
    /** dBm; 0: unknown */
    rssi: number
    /** MCC and MNC of the network; 0: not registered */
    plmn: number
    /** degrees Celsius; valid only while `temp_valid` */
    temp: number
    /** the modem reports its temperature */
    temp_valid: boolean
    /** running and waiting jobs: `scan`, `operator`, `apn`, `reboot` */
    pending: Array<string>
    /** dBm */
    rsrp?: number
    /** dB */
    rsrq?: number
    /** dB */
    sinr?: number
  }
  cfg: {
    /** MCC and MNC of the operator selected by hand; 0: automatic */
    plmn: number
    /** the router restarts if this host does not answer pings; empty: off */
    ping_reboot: string
    /** APN configured in the router */
    apn: string
    user: string
    pswd: string
    apn_choice?: {
      /** `user` (mob-apn), `table`, `router` (unchanged) or empty */
      from: string
      /** operator of the SIM, from the APN table; empty: unknown */
      carrier: string
      /** other APNs in the table for this SIM, the most likely first */
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
    /** bytes, counted by the router */
    sent: number
    /** bytes, counted by the router */
    recvd: number
  }
  /** result of the last `mobile-scan` */
  scan: Array<{
    /** MCC and MNC */
    plmn: number
    /** name of the operator */
    name: string
    /** bitmask: 256 GSM, 258 LTE, 4 any other */
    act: number
  }>
  /** the last 24 h, every 5 min; only if the mask selects detail fields */
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
  /** uplink that reaches the broker: `eth`, `sta` (WiFi), `cellular` or empty */
  via: string
  /** broker in use; empty: none */
  host: string
  /** port of the broker in use */
  port: number
  state: {
    link: MqttLinkState
    cert: {
      /** start of validity, UTC seconds; 0 without a certificate */
      from: number
      /** expiry, UTC seconds; 0 without a certificate */
      until: number
      /** serial number, hexadecimal; empty without a certificate */
      serial: string
    }
    error: {
      cause: MqttFailureCause
      /** the cause as a sentence */
      text: string
    }
  }
  stat?: {
    /** sessions that a broker accepted */
    sessions: number
    /** publications of the status document that were due but not sent */
    missed?: number
    /** retained requests that were dropped */
    retained?: number
    /** invalid messages on `cmd` and `change/post` */
    malformed?: number
  }
  rtcm?: {
    /** mqtt-rtcm runs and `mqtt-en` is 1: RTCM is sent while the reference is trusted and the link is up */
    enabled: boolean
    /** RTCM flows, and the newest publication was sent */
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
  /** mountpoint */
  mount: string
  /** always true: the station does not check this stream */
  unverified: true
  /** a base is pushing now */
  connected: boolean
  /** address; empty while no base is connected */
  ip: string
  /** User-Agent of the program */
  agent: string
  /** start of the connection, UTC seconds */
  since: number
  /** s since the last message */
  silent: number
  /** messages received */
  frames: number
  /** data received, bit/s */
  bitrate: number
  /** rovers connected to this mountpoint */
  rovers: number
}

export type NtripInfo = {
  caster?: {
    /** `ntrip-caster-en` */
    enabled: boolean
    /** port of the caster; 0 while closed */
    port: number
    /** port with TLS, 0 without */
    tls: number
    /** mountpoints of the station's own stream */
    mounts: Array<string>
    /** number of logins */
    users: number
    /** number of connected rovers */
    connected: number
    /** number of refused requests */
    refused: number
    /** the newest 8 */
    rovers: Array<NtripRover>
    /** mountpoints of third-party bases */
    bases: Array<NtripBase>
  }
  /** Casters to which the station pushes */
  server?: Array<{
    host: string
    port: number
    mount: string
    /** NTRIP version */
    version: 1 | 2
    tls: boolean
    state: PushState
    /** the error, or the proof of delivery, for a person */
    text: string
    /** s until the next attempt */
    next: number
    /** s since the caster accepted the push */
    since: number
    /** address of the connected peer */
    ip: string
    /** number of writes sent */
    sent: number
    /** number of writes dropped because the caster is slow */
    dropped: number
  }>
  client?: {
    host: string
    port: number
    mount: string
    state: ClientState
    /** reason for waiting */
    text: string
    /** s until the next attempt */
    next: number
    /** messages received */
    frames: number
  }
}

export type NtripRover = {
  /** ID for `ntrip-kick` */
  id: number
  /** mountpoint */
  mount: string
  /** receives the stream of a third-party base, which this station does not check */
  unverified: boolean
  /** login name, empty without login */
  user: string
  /** User-Agent of the program */
  agent: string
  /** address */
  ip: string
  /** start of the connection, UTC seconds */
  since: number
  /** from the rover's GGA, degrees; 0 without a GGA */
  lat: number
  /** from the rover's GGA, degrees; 0 without a GGA */
  lon: number
  /** from the GGA: 1 single, 2 differential, 4 fixed, 5 float; 0 without a GGA */
  quality: number
  /** distance to the base, metres; 0 without a GGA */
  dist: number
  /** s since the last GGA; 0 without a GGA */
  age: number
}

export type NvsNamespaces = {
  namespaces: Array<string>
}

/** Key-value pairs of the namespace; scalars only */
export type NvsValues = Record<string, string | number | boolean>

export type NvsWritten = {
  result: "ok"
  /** Number of pairs stored */
  written: number
}

/** Whether the station is online */
export type OnlineStatus = "y" | "r" | "q" | "L"

export type ParameterEntry = {
  name: string
  plugin: string
  /** For people; the name if the plugin gives none */
  title: string
  /** JSON Schema of the value */
  schema: Record<string, unknown>
  /** Omitted for a secret */
  default?: unknown
  /** Omitted for a secret */
  value?: unknown
  /** Only for a secret: whether it differs from the default */
  set?: boolean
  secret: boolean
  /** Changing it may disconnect the caller */
  endsLink: boolean
  /** A change is reverted unless the caller reaches the station again */
  onTrial: boolean
}

export type PasswordRequest = {
  /** Whose password it is */
  role: "operator" | "viewer"
  /** The new password; null removes it. Without the password of the operator and without http.token the one of the viewer is removed too */
  password: string | null
  /** The present password of the operator, or http.token. Not needed while `login` of /session is false */
  old?: string
}

export type PluginReport = {
  name: string
  version: string
  state: PluginStateName
  /** Reason for the state, or a status text of the plugin */
  reason: string
  /** Service ids */
  needs: Array<string>
  /** Service ids */
  provides: Array<string>
}

export type PluginStateName = "waiting" | "starting" | "running" | "stopping" | "stopped" | "failed" | "quarantined"

/** State of the push */
export type PushState = "off" | "waiting" | "connecting" | "refused" | "accepted" | "acknowledged" | "proven"

export type RecordEntry = {
  /** UTC milliseconds, corrected for later clock steps in the same run */
  t: number
  /** Milliseconds since the service started; never steps */
  up: number
  /** The service started; how and when the previous run ended (at_ms 0: unknown) */
  run?: {
    version: string
    how: string
    text: string
    at_ms: number
  }
  /** The service, or this plugin, was stopped */
  stop?: string
  /** Full state */
  all?: Record<string, Record<string, string | number | boolean>>
  /** Changed components; null: removed */
  set?: Record<string, Record<string, string | number | boolean> | null>
  min?: {
    /** RTCM epochs that went out */
    epochs: number
    /** Longest gap between epochs, seconds */
    gap: number
    /** RTCM did not flow for a part of it: no epoch for three intervals, at least 5 s */
    interrupted?: boolean
    /** RTCM messages that went out, by number */
    frames: Record<string, number>
    /** Clients of the stream in the document at the end of the minute */
    rovers: number
    /** Links up at the end of the minute */
    links: number
    /** Navigation epochs of the receiver */
    fixes: number
    /** Last fix: none, 3d, time, rtk-fixed, … */
    fix: string
    /** Satellites in the position */
    used: number
    /** Satellites received */
    visible: number
    /** 3D accuracy from the receiver, metres; 0 unknown */
    acc: number
    /** ECEF, metres; in fixed mode the reference. Empty: none */
    pos: Array<number>
    /** unknown, ok, warning or critical */
    jam: string
    /** Correction messages received */
    corrections: number
  }
  /** An event */
  note?: {
    what: string
    text: string
  }
  /** The clock was set, by this step */
  clock?: {
    by_ms: number
  }
  /** Number of lines lost before this line */
  lost?: number
}

/** Interference, spoofing, and signals */
export type RfInfo = {
  /** Interference in the worst band. warning: detected, critical: the receiver cannot work, unknown: not monitored */
  jamming: "unknown" | "ok" | "warning" | "critical"
  /** Signs of spoofed satellites detected by the receiver: none, one kind, or several */
  spoofing: "unknown" | "none" | "indicated" | "multiple"
  /** Cycle slips: share of the carrier-phase observations of the last 5 min whose signal lost lock after the previous observation, % */
  slips: number
  /** Interference by band; empty while the receiver does not report it */
  bands: Array<{
    /** L1, L2, L5 or L6: a receiver input with all its signals, e.g. Galileo E5b in L2 */
    band: string
    /** Interference in the band */
    jamming: "unknown" | "ok" | "warning" | "critical"
    /** Continuous-wave interference, 0 to 255 (strong) */
    indicator?: number
    /** Gain of the input, %; interference lowers it */
    agc?: number
    /** Noise level, receiver units */
    noise?: number
  }>
  /** Signals by constellation */
  constellations: Array<{
    /** gps, glonass, galileo, beidou; others if received */
    name: string
    /** Signals that the receiver is configured to track; empty: none, or unknown (listen-only) */
    expected: Array<string>
    /** Signals received in the last 10 s */
    seen: Array<string>
    /** Satellites received */
    satellites: number
  }>
}

export type RouterInfo = {
  serial: string
  /** MAC of the Ethernet port, upper case with colons */
  macaddr: string
  /** product code */
  hw: string
  /** hardware version */
  hwver: string
  /** production batch */
  hwbatch: string
  /** firmware version reported by the router */
  swver: string
  state: {
    /** seconds since the router started */
    uptime: number
    /** router clock, epoch seconds */
    time: number
    /** seconds since the oldest of the live values was read; 0 while not online */
    age: number
    link: RouterLinkState
    /** why the link is not `online`; empty while it is online */
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
  /** credentials in the protected store, saved after a login or set with `--protected` */
  default: {
    user: string
    pswd: string
  }
  /** SHA-256 of the pinned certificate, hexadecimal; empty over plain HTTP */
  certificate: string
  /** same as `wap.ssid` */
  "wap-ssid": string
  /** model of the modem */
  model: string
  /** IMEI of the modem */
  imei: string
  /** ICCID of the SIM */
  "sim-iccid": string
  /** IMSI of the SIM */
  "sim-imsi": string
  /** name of the network in use */
  operator: string
  /** e.g. LTE */
  "network-type": string
  /** ID of the cell */
  "cell-id": string
  /** MCC and MNC of the network; 0: unknown */
  plmn: number
  /** RSSI, dBm; 0: unknown */
  signal: number
  /** a mobile data connection is up */
  connected: boolean
}

/** Link to the router */
export type RouterLinkState = "searching" | "offline" | "locked" | "certificate" | "restarting" | "online"

export type RtcmSerialInfo = {
  /** device path or tcp://host:port */
  port: string
  /** rate of the line, bit/s */
  baud: number
  /** capacity that may be used, bytes per second */
  budget: number
  /** off: no port is set. waiting: the port cannot be opened, and is tried again */
  state: "off" | "open" | "waiting"
  /** reason for waiting */
  text: string
  /** current reduction of the stream */
  sends: string
  /** bytes sent */
  sent: number
  /** number of dropped epochs */
  dropped: number
}

export type RtcmSignature = {
  /** signature algorithm */
  "sig-alg": "ECDSA-SHA256" | "ECDSA-SHA384" | "RSA-SHA256" | "Ed25519"
  /** the signature, base64 */
  sig: string
  /** serial number of the certificate, hexadecimal */
  "sig-cert": string
  /** increases by one per publication; may jump ahead to the current time */
  "sig-seq": string
  /** UTC, milliseconds; 0 while the time is unknown */
  "sig-time": string
}

export type RtcmTcpInfo = {
  /** port for clients; 0: closed */
  port: number
  /** number of connected clients */
  connected: number
  /** Addresses to which the station connects */
  push: Array<{
    host: string
    port: number
    /** waiting: for the next attempt */
    state: "connecting" | "connected" | "waiting"
    /** reason for waiting */
    text: string
    /** number of dropped epochs */
    dropped: number
  }>
}

export type SessionRequest = {
  /** A password, http.token or http.viewerToken of the variant, or the access key of a person */
  token: string
}

export type SessionState = {
  /** Permission of the caller: nothing, read, everything */
  role: "none" | "viewer" | "operator"
  /** A token or a password is set, so a login is possible */
  login: boolean
  /** Expiry of the session cookie, UTC seconds; 0: no session */
  expires: number
  /** Name of the person whose access key it was */
  user?: string
  /** The service has just started, and does not know yet who may log in */
  starting?: boolean
  /** Roles that have a password (`POST /password`); tokens of the variant are not counted */
  passwords: {
    operator: boolean
    viewer: boolean
  }
}

/** State of the SIM; data read from the SIM is valid only while `ready` */
export type SimState = "absent" | "pin" | "puk" | "ready" | "error"

export type StaInfo = {
  /** MAC of the interface */
  mac: string
  /** `sta-ssid` */
  ssid: string
  /** MAC of the joined access point; empty while not joined */
  bssid: string
  /** Authentication of the joined network; invalid while `bssid` is empty */
  auth: "open" | "wep" | "wpa-psk" | "wpa2-psk" | "wpa3-sae" | "wpa-eap"
  /** IPv4 address */
  ip4: string
  /** IPv6 addresses */
  ip6: Array<string>
  /** s since the last frame from the access point */
  inactive_time: number
  /** channel of the joined network; 0 while not joined */
  channel: number
  /** second channel of a 40 MHz network, 0 if none */
  channel2: number
  /** width of the channel, MHz */
  bandwidth: number
  /** signal strength of the access point, dBm */
  rssi: number
}

/** Whether the station can serve rovers, and why not */
export type StationState = {
  verdict: Fitness
  /** Code of the deciding rule; `ok` if nothing is wrong */
  cause: string
  /** Since when, UTC seconds; 0 without a credible clock */
  since: number
  /** Eight hexadecimal digits that change with the announced position; empty while none is announced */
  reference: string
  /** The announced position as in its 1005 or 1006: ECEF x, y, z, metres; missing while none is announced */
  arp?: Array<number>
  /** `esp.version` of the document */
  version: string
}

export type UdpInfo = {
  /** `udp-en` */
  enabled: boolean
  /** `udp-port` */
  port: number
}

export type UpdateAnswer = {
  result: "ok"
  /** Version of the image (target `esp`) */
  version?: string
  /** Progress message of the router (target `rut`) */
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

/** State of the update */
export type UpdateStateName = "idle" | "downloading" | "verifying" | "installing" | "rebooting" | "failed"

/** Overall verdict on the base */
export type Verdict = {
  fitness: Fitness
  /** Code of the deciding rule; `ok` if nothing is wrong */
  code: string
  /** Reason, one sentence */
  why: string
  /** Suggested remedy; empty if none is needed */
  advice: string
  /** Time of the last change of `fitness` or `code`, UTC seconds; 0 without a credible clock */
  since: number
  /** Seconds since `fitness` or `code` last changed */
  for_s: number
  /** Code of `why` and `advice`; of an error if they are its text */
  why_code?: string
  /** The numbers and words that vary in the text, for translations */
  values?: Record<string, string | number | boolean>
}

export type WapInfo = {
  /** MAC of the access point; empty while it is not up */
  bssid: string
  /** name of the network */
  ssid: string
  /** `wap-en` */
  enabled: boolean
  /** current password of the access point; empty for a viewer */
  pwd: string
  /** current transmit power, dBm; 0 while the access point is not up */
  tx_power: number
  /** maximum number of clients; 0: unknown, or the access point is not up */
  max_sta: number
  /** beacon interval, time units of 1.024 ms; 0: unknown, or the access point is not up */
  beacon: number
  /** width of the channel, MHz; 0 while the access point is not up */
  bandwidth: number
  /** 2.4 GHz channel */
  channel: number
  /** s of silence after which a client is removed; 0: never */
  inactive_time: number
  reg: {
    /** current country, ISO 3166 */
    cc: string
    /** highest 2.4 GHz channel allowed in the country */
    max_chan: number
    /** highest transmit power allowed in the country, dBm */
    max_txpwr: number
  }
  revgw: {
    /** `wap-revgw-mac`: client that provides internet access */
    mac: string
    /** address of this client; empty: unknown */
    ip: string
    /** DNS server of this connection */
    dns: string
  }
  /** clients of the access point, strongest first */
  sta: Array<{
    /** MAC of the client */
    mac: string
    /** from the DHCP leases; empty: unknown */
    ip: string
    /** signal strength of the client, dBm */
    rssi: number
  }>
}
