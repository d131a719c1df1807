/** What the services of the GNSS path are made of. */

/** ECEF metres, WGS84 axes; coordinates are kept to 0.1 mm. */
export interface Ecef {
  x: number
  y: number
  z: number
}

/** East, north, up; metres. */
export interface Enu {
  east: number
  north: number
  up: number
}

/** A verified RTCM 3 frame. Owns its bytes; never changed by anyone. */
export interface RtcmFrame {
  /** Message number, 0-4095. */
  readonly type: number
  /** From the 0xD3 to the last CRC byte. */
  readonly bytes: Uint8Array
  /** Monotonic milliseconds at which its last byte arrived. */
  readonly arrival_ms: number
}
