export const SEND = `${location.pathname}/send`;
export const json = (method, body) => ({
  method,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
