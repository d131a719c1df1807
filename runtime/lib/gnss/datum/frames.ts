/** Reference frames and the transformations between them, as published. */

/** Frames that positions are transformed between. */
export const frameNames = [
  'ITRF2020',
  'ITRF2014',
  'ETRF2020',
  'ETRF2014',
  'ETRF2000',
  'GDA2020',
  'NAD83(2011)',
  'NAD83(CSRS)',
] as const
export type FrameName = (typeof frameNames)[number]

/** EPSG codes of the three-dimensional geographic systems of the frames. */
export const epsgCodes: Readonly<Record<FrameName, number>> = {
  ITRF2020: 9989,
  ITRF2014: 7912,
  ETRF2020: 10570,
  ETRF2014: 8403,
  ETRF2000: 7931,
  GDA2020: 7843,
  'NAD83(2011)': 6319,
  'NAD83(CSRS)': 4955,
}

/** Whether the frame moves with a plate, so that coordinates of points on this plate stay valid for decades. */
export const movesWithPlate = (frame: FrameName): boolean => !frame.startsWith('ITRF')

/**
 * The 14 parameters of a transformation: translations (mm), rotations (mas) and scale (ppb) at `epoch`, and their
 * rates per year.
 */
export interface Helmert {
  readonly from: FrameName
  readonly to: FrameName
  readonly translation_mm: readonly [number, number, number]
  readonly rotation_mas: readonly [number, number, number]
  readonly scale_ppb: number
  readonly translationRate_mm: readonly [number, number, number]
  readonly rotationRate_mas: readonly [number, number, number]
  readonly scaleRate_ppb: number
  /** Decimal year. */
  readonly epoch: number
  /**
   * Sign convention of the rotations: `position vector` as in the IERS conventions and EUREF's tables,
   * `coordinate frame` as in EPSG's transformation for Australia.
   */
  readonly convention: 'position vector' | 'coordinate frame'
  readonly source: string
}

const none = [0, 0, 0] as const
const pv = { convention: 'position vector' } as const
const nad83Rotation = [-26.78138, 0.42027, -10.93206] as const
const nad83Rate = [-0.06667, 0.75744, 0.05133] as const

/** The published transformations. They connect every frame with ITRF2020, directly or through ITRF2014. */
export const helmerts: readonly Helmert[] = [
  {
    ...{ from: 'ITRF2014', to: 'ITRF2020', ...pv, epoch: 2015, source: 'EPSG:9991' },
    ...{ translation_mm: [1.4, 0.9, -1.4], rotation_mas: none, scale_ppb: 0.42 },
    ...{ translationRate_mm: [0, 0.1, -0.2], rotationRate_mas: none, scaleRate_ppb: 0 },
  },
  {
    ...{ from: 'ITRF2020', to: 'ETRF2020', ...pv, epoch: 1989, source: 'EPSG:10572' },
    ...{ translation_mm: none, rotation_mas: none, scale_ppb: 0 },
    ...{ translationRate_mm: none, rotationRate_mas: [0.086, 0.519, -0.753], scaleRate_ppb: 0 },
  },
  {
    ...{ from: 'ITRF2020', to: 'ETRF2014', ...pv, epoch: 2015, source: 'EPSG:10587' },
    ...{ translation_mm: [-1.4, -0.9, 1.4], rotation_mas: [2.21, 13.806, -20.02], scale_ppb: -0.42 },
    ...{ translationRate_mm: [0, -0.1, 0.2], rotationRate_mas: [0.085, 0.531, -0.77], scaleRate_ppb: 0 },
  },
  {
    ...{ from: 'ITRF2014', to: 'ETRF2000', ...pv, epoch: 2010, source: 'EPSG:8405' },
    ...{ translation_mm: [54.7, 52.2, -74.1], rotation_mas: [1.701, 10.29, -16.632], scale_ppb: 2.12 },
    ...{ translationRate_mm: [0.1, 0.1, -1.9], rotationRate_mas: [0.081, 0.49, -0.792], scaleRate_ppb: 0.11 },
  },
  {
    ...{ from: 'ITRF2014', to: 'GDA2020', convention: 'coordinate frame', epoch: 2020, source: 'EPSG:8049' },
    ...{ translation_mm: none, rotation_mas: none, scale_ppb: 0 },
    ...{ translationRate_mm: none, rotationRate_mas: [1.50379, 1.18346, 1.20716], scaleRate_ppb: 0 },
  },
  {
    ...{ from: 'ITRF2014', to: 'NAD83(2011)', ...pv, epoch: 2010, source: 'NGS HTDP, ITRF2014 to NAD 83(2011)' },
    ...{ translation_mm: [1005.3, -1909.21, -541.57], rotation_mas: nad83Rotation, scale_ppb: 0.36891 },
    ...{ translationRate_mm: [0.79, -0.6, -1.44], rotationRate_mas: nad83Rate, scaleRate_ppb: -0.07201 },
  },
  {
    ...{ from: 'ITRF2020', to: 'NAD83(CSRS)', ...pv, epoch: 2010, source: 'NRCan, ITRF2020 to NAD83(CSRS)' },
    ...{ translation_mm: [1003.9, -1909.61, -541.17], rotation_mas: nad83Rotation, scale_ppb: -0.05109 },
    ...{ translationRate_mm: [0.79, -0.7, -1.24], rotationRate_mas: nad83Rate, scaleRate_ppb: -0.07201 },
  },
]

/** Rotation of each plate in ITRF2020, milliarcseconds a year about X, Y, Z: ITRF2020-PMM (Altamimi et al. 2023, doi 10.1029/2023GL106373). */
export const plates = {
  AMUR: [-0.131, -0.551, 0.837],
  ANTA: [-0.269, -0.312, 0.678],
  ARAB: [1.129, -0.146, 1.438],
  AUST: [1.487, 1.175, 1.223],
  CARB: [0.207, -1.422, 0.726],
  EURA: [-0.085, -0.519, 0.753],
  INDI: [1.137, 0.013, 1.444],
  NAZC: [-0.327, -1.561, 1.605],
  NOAM: [0.045, -0.666, -0.098],
  NUBI: [0.09, -0.585, 0.717],
  PCFC: [-0.404, 1.021, -2.154],
  SOAM: [-0.261, -0.282, -0.157],
  SOMA: [-0.081, -0.719, 0.864],
} as const satisfies Readonly<Record<string, readonly [number, number, number]>>
export type PlateName = keyof typeof plates

/** The name of each plate, for people. */
export const plateTexts: Readonly<Record<PlateName, string>> = {
  AMUR: 'Amur',
  ANTA: 'Antarctica',
  ARAB: 'Arabia',
  AUST: 'Australia',
  CARB: 'Caribbean',
  EURA: 'Eurasia',
  INDI: 'India',
  NAZC: 'Nazca',
  NOAM: 'North America',
  NUBI: 'Nubia (Africa)',
  PCFC: 'Pacific',
  SOAM: 'South America',
  SOMA: 'Somalia (East Africa)',
}

/** A description of each frame, for people. */
export const frameTexts: Readonly<Record<FrameName, string>> = {
  ITRF2020: 'worldwide: results of PPP services (IGS20 is the same)',
  ITRF2014: 'worldwide, until 2022',
  ETRF2020: 'Europe',
  ETRF2014: 'Europe',
  ETRF2000: 'Europe: the national networks of most countries',
  GDA2020: 'Australia',
  'NAD83(2011)': 'United States',
  'NAD83(CSRS)': 'Canada',
}
