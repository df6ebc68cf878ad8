// A fair queue for plain workerd under overload. FAIR_QUEUE=true enables it; Cloudflare never uses it.
//
// workerd polls its sockets and timers only when it is idle. Under overload, or when a client pipelines, a connection's
// next request has already arrived when its last request is answered. So workerd is never idle, and a few such
// connections starve all other connections and every timer. Therefore, once MAX_STARTED requests have started without a
// timer firing, each further request waits for a timer of its own. The first timer is set at half that number.
const MAX_STARTED = 32;
// workerd polls sixteen sockets at a time and then serves their requests. If this many requests wait at the end of a
// turn, workerd gets time to poll more sockets and so serves further connections. Waking a request that must wait again
// costs 0.05 ms, during which no socket is polled. So each request of a turn adds three times that, 0.15 ms, to the
// polling time.
const MIN_WAITING = 64;
const POLLING_MS_PER_REQUEST = 0.15;
const MAX_POLLING_MS = 250;

let started = 0;
let turn = 0;
let pollingUntil = 0;

export function fairQueue(request, env, ctx, answer) {
  started += 1;
  if (started === MAX_STARTED / 2) {
    ctx.waitUntil(nextTurn());
  }
  if (started > MAX_STARTED || Date.now() < pollingUntil) {
    const response = queued(request, env, ctx, answer);
    // The request is served even if its client leaves before its turn.
    ctx.waitUntil(response);
    return response;
  }
  return answer(request, env, ctx);
}

async function queued(request, env, ctx, answer) {
  if (started > MAX_STARTED) {
    await nextTurn();
  }
  const left = pollingUntil - Date.now();
  if (left > 0) {
    await scheduler.wait(Math.min(left, MAX_POLLING_MS));
  }
  return answer(request, env, ctx);
}

// When the timers of several requests fire together, the first request begins the next turn for all of them.
async function nextTurn() {
  const own = turn;
  await scheduler.wait(0);
  if (turn === own) {
    const now = Date.now();
    if (started > MAX_STARTED + MIN_WAITING) {
      pollingUntil = now + Math.min(started * POLLING_MS_PER_REQUEST, MAX_POLLING_MS);
    } else if (pollingUntil > now + MAX_POLLING_MS) {
      // The clock was set back.
      pollingUntil = now;
    }
    turn += 1;
    started = 0;
  }
}
