/** From differenced observations to real-valued unknowns: what the rest of the baseline may use of the least squares. */
export { adjust, type Floats } from './adjustment.js'
export { type NoiseModel, slantAt } from './equations.js'
export { geometry } from './numbering.js'
