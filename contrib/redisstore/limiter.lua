-- A rate limiter for lookups: one holder of a lease, and a queue of waiting callers.
-- All times are in microseconds of the Redis server's clock.
--
-- KEYS[1] hash: holder   the caller that holds the lease
--               until    the end of the lease
--               next     the earliest time of the next lease
--               gap      the gap that was used to compute next
--               ended    the last caller that released the lease
-- KEYS[2] zset: waiting callers, by ticket
-- KEYS[3] hash: waiting caller -> the latest time of its next call
-- ARGV: op, id, ticket (0 if the caller has none), gap, lease, grace, channel
--
-- A waiting caller sleeps until the earliest time at which it can get the lease. If
-- a caller leaves the queue, the script publishes its ticket on the channel. Callers
-- with a later ticket then wake up one gap earlier.
--
-- Each op is idempotent, because a client repeats a call whose response was lost.
-- Response: state (1 is done), microseconds to wait, ticket, number of callers ahead.
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local op, id = ARGV[1], ARGV[2]
local gap, lease, grace = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local s = redis.call('HMGET', KEYS[1], 'holder', 'until', 'next', 'gap', 'ended')
local holder, til, nxt = s[1], tonumber(s[2] or 0), tonumber(s[3] or 0)
local last, ended = tonumber(s[4] or gap), s[5]

local function set(field, time) redis.call('HSET', KEYS[1], field, string.format('%.0f', time)) end

-- A clock that was set back must not stop the queue. The script stores the corrected
-- times, because otherwise each later call would move them again.
if nxt - now > last or til - now > lease then
  if nxt - now > last then nxt = now + last; set('next', nxt) end
  if til - now > lease then til = now + lease; set('until', til) end
  redis.call('DEL', KEYS[3]) -- waiting callers register again, in the same order
end

local function keep(time) -- unused keys expire 1 minute after this time
  for i = 1, 3 do redis.call('PEXPIRE', KEYS[i], math.ceil(time / 1000) + 60000) end
end

local function dequeue(who)
  redis.call('ZREM', KEYS[2], who)
  redis.call('HDEL', KEYS[3], who)
end

local function drop(who) -- removes a caller from the queue and publishes its ticket
  local ticket = redis.call('ZSCORE', KEYS[2], who)
  dequeue(who)
  if ticket then redis.call('PUBLISH', ARGV[7], string.format('%.0f', tonumber(ticket))) end
end

local function hold()
  redis.call('HSET', KEYS[1], 'holder', id)
  set('until', now + lease)
  keep(math.max(lease, last))
  return {1, 0, 0, 0}
end

if op == 'release' then -- the next lease can begin after the gap
  if holder == id or not holder or til < now then redis.call('HDEL', KEYS[1], 'holder', 'until') end
  redis.call('HSET', KEYS[1], 'ended', id)
  if now + gap > nxt then set('next', now + gap); set('gap', gap) end
  keep(math.max(lease, gap, last))
  return {1, 0, 0, 0}
elseif op == 'leave' then -- the caller stops waiting
  drop(id)
  if holder == id then redis.call('HDEL', KEYS[1], 'holder', 'until') end
  return {1, 0, 0, 0}
elseif op == 'renew' then -- also restores a lease that a restarted server has lost
  if ended == id or (holder and holder ~= id and til > now) then return {0, 0, 0, 0} end
  return hold()
end

-- acquire, or a later call of the same waiting caller
if holder == id then return hold() end -- the previous response was lost
local ticket = tonumber(ARGV[3])
if ticket == 0 then
  local tail = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')
  ticket = math.max(now, tonumber(tail[2] or 0) + 1)
end
redis.call('ZADD', KEYS[2], 'NX', string.format('%.0f', ticket), id) -- a caller that was removed gets its position back
redis.call('HSET', KEYS[3], id, string.format('%.0f', now + grace))

local rank
while true do
  local head = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
  if head == id then rank = 0; break end
  if tonumber(redis.call('HGET', KEYS[3], head) or 0) >= now then rank = redis.call('ZRANK', KEYS[2], id); break end
  drop(head) -- it crashed or is late
end
local held = holder and til > now
if rank == 0 and not held and nxt <= now then
  dequeue(id)
  return hold()
end

-- The earliest time at which this caller can get the lease, if no caller leaves the
-- queue. The holder and each caller ahead take at least one gap. If the holder
-- crashes, its lease ends at the time until.
local wait = rank * gap
if not held then
  wait = wait + math.max(nxt - now, 0)
else
  wait = wait + math.min(gap, math.max(til - now, 1000))
end
redis.call('HSET', KEYS[3], id, string.format('%.0f', now + wait + grace))
keep(math.max(wait + grace, lease, last))
return {0, math.ceil(wait), ticket, rank}
