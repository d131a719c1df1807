/** What somebody who logged in may do: a viewer reads, an operator does everything. */
export type LoginRole = 'viewer' | 'operator'

/** Who asks. Without `http.token` everybody on the local network is an operator. */
export type Role = 'none' | LoginRole
