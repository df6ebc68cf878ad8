// A fair queue for plain workerd under overload, on with FAIR_QUEUE=true and never on Cloudflare.
//
// workerd looks at its sockets and its timers once it has nothing else to do. A connection whose next request is there by the
// time its last one is answered, as under overload or when a client pipelines, gives it something else to do: a few such
// connections shut out all others, every timer and every callback for as long as they like. So once MAX_STARTED requests have
// started without a timer going off, each further request waits for a timer of its own; half as many set the first.
const MAX_STARTED = 32;
// workerd looks at sixteen sockets and goes on with their requests. Where this many requests wait, it gets a share of the last
// turn's time to look at more, so that connections get in that were not looked at before.
const CROWD = 128;
const LOOKING_SHARE = 0.25;
const LOOKING_MS = 250;

let started = 0;
let startedAt = 0;
let turn = 0;
let lookingUntil = 0;

export function fairQueue(request, env, ctx, answer) {
  started += 1;
  if (started === MAX_STARTED / 2) {
    startedAt = Date.now();
    ctx.waitUntil(nextTurn());
  }
  if (started > MAX_STARTED || Date.now() < lookingUntil) {
    const response = queued(request, env, ctx, answer);
    // A client that leaves before its turn has sent its request all the same.
    ctx.waitUntil(response);
    return response;
  }
  return answer(request, env, ctx);
}

async function queued(request, env, ctx, answer) {
  if (started > MAX_STARTED) {
    await nextTurn();
  }
  const left = lookingUntil - Date.now();
  if (left > 0) {
    await scheduler.wait(Math.min(left, LOOKING_MS));
  }
  return answer(request, env, ctx);
}

// Of the requests whose timers go off together, the first begins the next turn for all.
async function nextTurn() {
  const own = turn;
  await scheduler.wait(0);
  if (turn === own) {
    const now = Date.now();
    if (started > MAX_STARTED + CROWD) {
      lookingUntil = now + Math.min((now - startedAt) * LOOKING_SHARE, LOOKING_MS);
    } else if (lookingUntil > now + LOOKING_MS) {
      // The clock was set back.
      lookingUntil = now;
    }
    turn += 1;
    started = 0;
  }
}
