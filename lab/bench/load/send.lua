-- Sends the requests of a file in turn, and prints wrk's counts as JSON. wrk -s send.lua <url> -- <file> <run name>:
-- `{{n}}` in a request becomes a unique word.
local texts, run = {}, ""
sent = 0

function init(args)
  run = args[2]
  local file = assert(io.open(args[1], "rb"))
  local size = file:read("*l")
  while size do
    texts[#texts + 1] = file:read(tonumber(size))
    size = file:read("*l")
  end
  file:close()
end

function request()
  sent = sent + 1
  local text = texts[(sent - 1) % #texts + 1]
  if text:find("{{n}}", 1, true) then text = text:gsub("{{n}}", run .. "-" .. sent, 1) end
  return text
end

local threads = {}
function setup(thread)
  table.insert(threads, thread)
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"seconds":%f,"sent":%d,"refused":%d,"broken":%d,"p50":%f,"p99":%f}',
    summary.requests, summary.duration / 1e6, threads[1]:get("sent"), errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3
  ))
end
