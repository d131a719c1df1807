/** Which credentials a router is tried with, how often, and where they come from. */
export { guardLimits, LoginGuard } from './guard.js'
export { labelText, parseLabel, type RouterLabel } from './label.js'
export { type Candidate, CredentialLadder, type LadderDeps, type Rung, usersOf } from './ladder.js'
export { CredentialLookup, type LookupOptions } from './lookup.js'
export { neighbourMac } from './neighbour.js'
export { Vault } from './vault.js'
