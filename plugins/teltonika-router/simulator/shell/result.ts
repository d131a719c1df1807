/** How a program ended. */
export interface Result {
  code: number
  stdout: string
  stderr: string
  /** It was `exit`: the shell around it ends as well. */
  exits?: true
}
export const result = (code: number, stdout = '', stderr = ''): Result => ({ code, stdout, stderr })
