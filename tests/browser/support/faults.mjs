// Answers that the real server gives only in trouble, put in the place of one call. Everything else stays real.

const PATHS = "**/v1/dashboard/";

export const REQUEST_ID = "8f2c6ad1b3e94f70-FRA";

/** Answers each such call with an error; `body` replaces the usual one. */
export function answer(page, method, path, { status, code, headers = {}, error = "the test refuses this call" }, options) {
  return page.route(
    PATHS + path,
    (route) => {
      if (route.request().method() !== method) return route.fallback();
      return route.fulfill({ status, json: { error, code }, headers: { "X-Request-Id": REQUEST_ID, ...headers } });
    },
    options,
  );
}

/** Answers the first such call with an error, and no other. */
export async function answerOnce(page, method, path, fault) {
  let isSpent = false;
  await page.route(PATHS + path, (route) => {
    if (isSpent || route.request().method() !== method) return route.fallback();
    isSpent = true;
    const { status, code, headers = {} } = fault;
    return route.fulfill({ status, json: { error: "the test refuses this call", code }, headers });
  });
}
