/** How a program ended. */
export interface Result {
  code: number
  stdout: string
  stderr: string
}
export const result = (code: number, stdout = '', stderr = ''): Result => ({ code, stdout, stderr })
