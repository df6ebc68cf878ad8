-- The requests of a wrk run from a file, and the run's results as one line of JSON. Arguments: the method, the
-- content of a line ("path" or "body"), "again", "once" or "numbered" (each path ends with the request's number), the
-- file, and then names and values of headers in turn.

local requests, at, once, numbered = {}, 0, false, false

function init(arguments)
  wrk.method = arguments[1]
  once = arguments[3] == "once"
  numbered = arguments[3] == "numbered"
  for n = 5, #arguments, 2 do
    wrk.headers[arguments[n]] = arguments[n + 1]
  end
  for line in io.lines(arguments[4]) do
    if numbered then
      requests[#requests + 1] = line
    elseif arguments[2] == "path" then
      requests[#requests + 1] = wrk.format(nil, line)
    else
      requests[#requests + 1] = wrk.format(nil, nil, nil, line)
    end
  end
end

function request()
  at = at + 1
  if numbered then
    return wrk.format(nil, requests[at % #requests + 1] .. at)
  end
  if at > #requests then
    -- A run stops when requests that may be sent only once are used up; the measurement is over by then.
    if once then
      wrk.thread:stop()
    end
    at = 1
  end
  return requests[at]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"microseconds":%d,"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d,"p50":%d,"p99":%d}\n',
    summary.requests, summary.duration, errors.connect, errors.read, errors.write, errors.status, errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
