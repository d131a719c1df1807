/**
 * Ephemeris messages of RTCM 3 (RTCM 10403.3, messages 1019, 1020, 1042 and 1044-1046) as data. Their fields have the
 * widths and scales of the satellites' own messages, so `assembler.ts` writes navigation pages in these layouts too.
 */
import { type Field, flag, reserved, signed, signMagnitude, uint, unsigned } from '../rtcm/layout.js'

/** Semicircles on the wire, radians in the value. */
const angle = <N extends string>(name: N, bits: number, shift: number) => signed(name, bits, 2 ** shift / Math.PI)

/** @param unit_s seconds per count of toe and toc, which count from the start of the week */
const time = <N extends string>(name: N, bits: number, unit_s: number) => unsigned(name, bits, 1 / unit_s)

/** The elements in their order on the wire; the widths and scales of harmonic terms and the time differ. */
const elements = <F extends Field>(harmonic: number, radians: number, metres: number, toe: F) =>
  [
    signed('crs_m', harmonic, 2 ** metres),
    angle('deltaN_radps', 16, 43),
    angle('m0_rad', 32, 31),
    signed('cuc_rad', harmonic, 2 ** radians),
    unsigned('e', 32, 2 ** 33),
    signed('cus_rad', harmonic, 2 ** radians),
    unsigned('sqrtA', 32, 2 ** 19),
    toe,
    signed('cic_rad', harmonic, 2 ** radians),
    angle('omega0_rad', 32, 31),
    signed('cis_rad', harmonic, 2 ** radians),
    angle('i0_rad', 32, 31),
    signed('crc_m', harmonic, 2 ** metres),
    angle('omega_rad', 32, 31),
    angle('omegaDot_radps', 24, 43),
  ] as const
export const idot = angle('idot_radps', 14, 43)

export const gpsClock = [
  time('tocOfWeek_s', 16, 16),
  signed('af2_sps2', 8, 2 ** 55),
  signed('af1_sps', 16, 2 ** 43),
  signed('af0_s', 22, 2 ** 31),
] as const
export const gpsElements = elements(16, 29, 5, time('toeOfWeek_s', 16, 16))

const galileo = [
  uint('satellite', 6),
  uint('week', 12),
  uint('issue', 10),
  uint('accuracy', 8),
  idot,
  time('tocOfWeek_s', 14, 60),
  signed('af2_sps2', 6, 2 ** 59),
  signed('af1_sps', 21, 2 ** 46),
  signed('af0_s', 31, 2 ** 34),
  ...elements(16, 29, 5, time('toeOfWeek_s', 14, 60)),
  signed('groupDelayE5a_s', 10, 2 ** 32),
] as const

const axis = <A extends 'x' | 'y' | 'z'>(name: A) =>
  [
    signMagnitude(`${name}Dot_mps`, 24, 2 ** 20 / 1000),
    signMagnitude(`${name}_m`, 27, 2 ** 11 / 1000),
    signMagnitude(`${name}DotDot_mps2`, 5, 2 ** 30 / 1000),
  ] as const

/** Message number → fields behind it. */
export const ephemerisLayouts = {
  1019: [
    uint('satellite', 6),
    uint('week', 10),
    uint('accuracy', 4),
    uint('codeOnL2', 2),
    idot,
    uint('issue', 8),
    ...gpsClock,
    uint('clockIssue', 10),
    ...gpsElements,
    signed('groupDelay_s', 8, 2 ** 31),
    uint('health', 6),
    flag('l2pOff'),
    flag('longFit'),
  ],
  1020: [
    uint('satellite', 6),
    uint('channel', 5),
    reserved(2),
    uint('p1', 2),
    uint('frameTime', 12),
    flag('unhealthy'),
    flag('p2'),
    /** Quarters of an hour of the Moscow day. */
    uint('tb', 7),
    ...axis('x'),
    ...axis('y'),
    ...axis('z'),
    flag('p3'),
    signMagnitude('gamma', 11, 2 ** 40),
    uint('p', 2),
    flag('ln'),
    signMagnitude('tau_s', 22, 2 ** 30),
    signMagnitude('deltaTau_s', 5, 2 ** 30),
    uint('age_days', 5),
    flag('p4'),
    uint('accuracy', 4),
    /** Day of the four years since a leap year, from 1; 0 unknown. */
    uint('day', 11),
    uint('m', 2),
    /** The rest of string 5, which orbits do not need. */
    reserved(1 + 11 + 32 + 5 + 22 + 1 + 7),
  ],
  1042: [
    uint('satellite', 6),
    uint('week', 13),
    uint('accuracy', 4),
    idot,
    uint('issue', 5),
    time('tocOfWeek_s', 17, 8),
    signed('af2_sps2', 11, 2 ** 66),
    signed('af1_sps', 22, 2 ** 50),
    signed('af0_s', 24, 2 ** 33),
    uint('clockIssue', 5),
    ...elements(18, 31, 6, time('toeOfWeek_s', 17, 8)),
    signed('groupDelay1_ns', 10, 10),
    signed('groupDelay2_ns', 10, 10),
    uint('health', 1),
  ],
  1044: [
    uint('satellite', 4),
    ...gpsClock,
    uint('issue', 8),
    ...gpsElements,
    idot,
    uint('codeOnL2', 2),
    uint('week', 10),
    uint('accuracy', 4),
    uint('health', 6),
    signed('groupDelay_s', 8, 2 ** 31),
    uint('clockIssue', 10),
    flag('longFit'),
  ],
  1045: [...galileo, uint('health', 3), reserved(7)],
  1046: [...galileo, signed('groupDelayE5b_s', 10, 2 ** 32), uint('health', 6), reserved(2)],
} as const

export type EphemerisLayouts = typeof ephemerisLayouts
export type EphemerisMessage = keyof EphemerisLayouts
