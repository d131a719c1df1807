/** The characters of users and passwords. Without TypeBox: pages judge their fields by them, too. Patterns are for the flag `u`. */

/** For a class: what nobody sees, and pasted text often has at its ends. Blanks, controls, and characters that are shown as nothing. */
const unseen = '\\p{C}\\p{Z}\\p{Default_Ignorable_Code_Point}\\u2800'

/** Continues a description of what is taken. */
export const unseenRefused = 'invisible characters, which pasted text may have at its ends, are refused'

/** A user and a password of another caster: what it takes is its own affair, up to what RFC 7617 and a line of text allow. */
export const userPattern = `^[^:${unseen}]{0,64}$`
export const passwordPattern = `^[^${unseen}]{0,64}$`

/** The login of a rover at a caster of this project. */
export const loginNamePattern = `^([A-Za-z0-9_.@-]|[^\\u0000-\\u007f${unseen}]){1,64}$`
export const loginPasswordPattern = `^[^${unseen}]{4,64}$`
