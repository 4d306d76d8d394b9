/** What an error that a user can act on has to be, for `assert.throws` and `assert.rejects`. */
export const userError = (message: RegExp, more: { readonly hint?: RegExp; readonly exitCode?: 1 | 2 } = {}) => ({
  name: "UserError",
  message,
  ...more,
});
