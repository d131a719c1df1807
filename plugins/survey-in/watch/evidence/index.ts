export type { Evidence } from './evidence.js'
export { ResidualEvidence } from './residuals.js'
export { SecondFixEvidence } from './second-fix.js'
export { WarningEvidence } from './warning.js'
