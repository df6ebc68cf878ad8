// Answers that the real server gives only in trouble, put in the place of one call. Everything else stays real.

const call = (path) => (url) => url.pathname === `/v1/dashboard/${path}`;

export const REQUEST_ID = "8f2c6ad1b3e94f70-FRA";

/** Answers every such call with an error. */
export const answer = (page, method, path, fault) =>
  page.route(call(path), (route) => (route.request().method() === method ? fulfil(route, fault) : route.fallback()));

/** Answers the first such call with an error, and no other. */
export async function answerOnce(page, method, path, fault) {
  let isSpent = false;
  await page.route(call(path), (route) => {
    if (isSpent || route.request().method() !== method) return route.fallback();
    isSpent = true;
    return fulfil(route, fault);
  });
}

const fulfil = (route, { status, code, headers = {} }) =>
  route.fulfill({
    status,
    json: { error: "the test refuses this call", code },
    headers: { "X-Request-Id": REQUEST_ID, ...headers },
  });

/** A handler that changes the real answer. */
export const changed = (edit) => async (route) => {
  // Playwright's own call is not the browser's, which adds this header by itself.
  const headers = { ...(await route.request().allHeaders()), "Sec-Fetch-Site": "same-origin" };
  const response = await route.fetch({ headers });
  const json = await response.json();
  edit(json);
  await route.fulfill({ response, json });
};

/** Changes the real answer of a call. */
export const change = (page, path, edit) => page.route(call(path), changed(edit));

/** A part of a batch that could not be made, as the server words it. */
export const BROKEN_PART = { error: "some stored facts are damaged", code: "damaged_facts" };

/** Holds a call back until the page is closed. */
export const hold = (page, path) => page.route(call(path), () => {});
