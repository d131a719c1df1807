/**
 * Real ephemerides with the positions that RTKLIB 2.4.3 b34 computes from the same bytes (`rnx2rtkp -x 4`, lines
 * `rs=`). Pages: RXM-SFRBX payloads of semuconsulting/pygnssutils, tests/pygpsdata_testobsnavdata.log (BSD-3-Clause).
 * Frames: payloads of RTCM messages of station STR24 over the end of GPS week 2009.
 */
import type { OrbitConstellation } from '../../../runtime/lib/gnss/index.js'
import { encodeFrame } from '../../../runtime/lib/gnss/rtcm/frame.js'
import { encodeUbx } from '../../../runtime/lib/gnss/ubx.js'

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'))
const pages = (...payloads: string[]) => payloads.map((payload) => encodeUbx(0x02, 0x13, bytes(payload)))

/** RTKLIB's position and clock at a time of GPS. */
export interface Known {
  readonly constellation: OrbitConstellation
  readonly satellite: number
  readonly week: number
  readonly tow_s: number
  readonly at: readonly [x: number, y: number, z: number]
  readonly clock_ns: number
}

/** UBX frames that together make an ephemeris, and a page of the same number that is of another issue. */
export interface KnownPages extends Known {
  readonly pages: readonly Uint8Array[]
  readonly foreign: Uint8Array
  readonly foreignIndex: number
}

export const knownPages: readonly KnownPages[] = [
  {
    ...{ constellation: 'GPS', satellite: 2, week: 2414, tow_s: 138_550.931841, clock_ns: 77_933.512 },
    at: [15_321_802.864, -991_322.18, 22_045_905.024],
    pages: pages(
      '000200000a010220276ec1222bc9450b2f00e41648f00f0a851b5133880ecfadb776051025ca48161011008024588e02',
      '000200000a010220276ec12243ea450b23ad7f16a95fd90b1daee5993b02cbbf23807727586874053a4b8b03131fca88',
      '000200000a010200276ec1222f0b460b9cd6fb3f6a5f1925e7892b8060e6990e333889051bd2060572f8ea3f471f7c96',
    ),
    // Subframe 3 of satellite 1, IODE 137 instead of 89.
    foreign: pages(
      '000200000a000200276ec1222f0b460b475808007cf5730cca89080050c25e819c417105371e12194905ea3fbfb37ca2',
    )[0],
    foreignIndex: 2,
  },
  {
    ...{ constellation: 'GLONASS', satellite: 17, week: 2414, tow_s: 138_550.930017, clock_ns: 286_738.798 },
    at: [5_695_969.744, -15_222_960.967, 19_675_742.231],
    pages: pages(
      '0611000b040f020028c045083645c89e00f0c1f30200e403',
      '0611000b040f02003801c511efb0bc3c002819b10200e403',
      '0611000b040f022021b1011c87d18c250060631e0200e403',
      '0611000b040f0201205596240d13000000582d0a0200e403',
    ),
    // The same string of the next frame.
    foreign: pages('0611000b040f022021b1011c87d18c250060631e0300e403')[0],
    foreignIndex: 2,
  },
  {
    ...{ constellation: 'Galileo', satellite: 34, week: 2414, tow_s: 138_550.922678, clock_ns: -247_685.094 },
    at: [16_288_831.983, 618_775.409, 24_703_107.659],
    pages: pages(
      '0222010008150200e848190161cc1df83120100000c004aa00c0b39f2a0000007e66aaaa00c08ac4',
      '0222010008150200795919022a4ab7f291ce958c0000d604004084bd2a0000000673aaaa0000015f',
      '0222010008150200f17f190380a186ca433b46cf00c0804100c01abb2a0000007079aaaa00c08b2a',
      '0222010008150200006219042316000293f8fda300c0ff57004040962a0000008f41aaaa00c0cafe',
      '0222010008150200b4202b054001a01343dc0a7000802aa10080aaaa2a000000a965aaaa00000121',
    ),
    // Word 3 of satellite 30, IODnav 100 instead of 101.
    foreign: pages('0222010008260220f03f1903c2cd8911867a03270080023100c01aae2a0000006878aaaa00c08bac')[0],
    foreignIndex: 2,
  },
  {
    ...{ constellation: 'BeiDou', satellite: 30, week: 2414, tow_s: 138_550.928412, clock_ns: 426_993.655 },
    at: [17_184_396.502, -1_044_834.792, 21_949_593.265],
    pages: pages(
      '031e00000a0b02cd161290387510c0334842440808fe3933d501251ffe91053db45d031e2b1b00180c80e33e0fe15904',
      '031e00000a0b02001422903823bfd833fd2bfc19f0b9d411da019404e787c01394c0f20392fd30327c513a22a6c0a114',
      '031e00000a0b02001b329038d216f233ac204d1833802a0f19fd4f069900cc233a173d12a63d1229511871239e9c8b3d',
    ),
    // Subframe 3 of the next frame, 30 s later.
    foreign: pages(
      '031e00000a0b02011b329038e2166a34ac204d1833802a0f19fd4f069900cc233a173d12a63d1229511871239e9c8b3d',
    )[0],
    foreignIndex: 2,
  },
]

export interface KnownFrame extends Known {
  readonly frame: Uint8Array
}

export const knownFrames: readonly KnownFrame[] = [
  {
    // Sent in week 2009 with this week's number and the toe of the next week.
    ...{ constellation: 'GPS', satellite: 1, week: 2009, tow_s: 604_259.926899, clock_ns: -65_810.723 },
    at: [-3_255_154.343, 16_876_802.299, -20_320_705.802],
    frame: encodeFrame(
      bytes(
        '3fb07d923e7b24000000ffdef75f1824ef31303cb8ed8c26f113041a015c08b9a10d5be9000000426c631c90ffbc279b953c25b91adf5438ffa7230c00',
      ),
    ),
  },
  {
    // A geostationary satellite, with the toe of the next week.
    ...{ constellation: 'BeiDou', satellite: 1, week: 2009, tow_s: 604_259.875555, clock_ns: 340_212.703 },
    at: [-32_303_719.44, 27_080_013.266, 999_446.175],
    frame: encodeFrame(
      bytes(
        '4120451c03938000000000d6b32c98830606558d9d899fd2117582801b23297feeb95d7941a0000ff711ce90383bfedd03625e6e00b98ac783cb0010a288ee60',
      ),
    ),
  },
  {
    ...{ constellation: 'QZSS', satellite: 1, week: 2009, tow_s: 604_679.890813, clock_ns: -180_118.629 },
    at: [-22_088_919.409, 19_524_571.46, -25_514_511.862],
    frame: encodeFrame(
      bytes(
        '41410000000082e864d777e5a870380cb042bbf2249aeab99cb58f2bb8f0b40003fdd27444a33c010c74e54a3b26df02381967ff8cf4ad5bd9203cfdd0',
      ),
    ),
  },
]
