-- One queue of lookups. All times are in microseconds, of this server.
--
-- KEYS[1] hash: holder   who has the turn
--               until    when its lease ends
--               next     before when nobody gets the turn
--               gap      what next was made of
--               ended    whose turn ended last
-- KEYS[2] zset: who waits, by ticket
-- KEYS[3] hash: who waits -> by when it must have asked again
-- ARGV: op, id, ticket (0 is none yet), gap, lease, grace, channel
--
-- Who waits sleeps until its turn can come. When somebody before it goes away
-- the channel tells that ticket, so that those behind sleep a gap less.
--
-- Each op may come twice: a call is repeated when its answer was lost.
-- Answers: state (1 is done), microseconds to wait, ticket, how many are ahead.
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local op, id = ARGV[1], ARGV[2]
local gap, lease, grace = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local s = redis.call('HMGET', KEYS[1], 'holder', 'until', 'next', 'gap', 'ended')
local holder, til, nxt = s[1], tonumber(s[2] or 0), tonumber(s[3] or 0)
local last, ended = tonumber(s[4] or gap), s[5]

local function set(field, time) redis.call('HSET', KEYS[1], field, string.format('%.0f', time)) end

-- A clock that was set back must not stop the queue. What is corrected is
-- written, else it would be corrected again and again.
if nxt - now > last or til - now > lease then
  if nxt - now > last then nxt = now + last; set('next', nxt) end
  if til - now > lease then til = now + lease; set('until', til) end
  redis.call('DEL', KEYS[3]) -- nobody is known to be there; who is comes back to its place
end

local function keep(time) -- then a minute more; what nobody uses goes away by itself
  for i = 1, 3 do redis.call('PEXPIRE', KEYS[i], math.ceil(time / 1000) + 60000) end
end

local function dequeue(who) -- it has its turn
  redis.call('ZREM', KEYS[2], who)
  redis.call('HDEL', KEYS[3], who)
end

local function drop(who) -- it goes without
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

if op == 'release' then -- gap is what must pass from now on
  if holder == id or not holder or til < now then redis.call('HDEL', KEYS[1], 'holder', 'until') end
  redis.call('HSET', KEYS[1], 'ended', id)
  if now + gap > nxt then set('next', now + gap); set('gap', gap) end
  keep(math.max(lease, gap, last))
  return {1, 0, 0, 0}
elseif op == 'leave' then -- as if it had never come
  drop(id)
  if holder == id then redis.call('HDEL', KEYS[1], 'holder', 'until') end
  return {1, 0, 0, 0}
elseif op == 'renew' then -- also what a server that was restarted has forgotten
  if ended == id or (holder and holder ~= id and til > now) then return {0, 0, 0, 0} end
  return hold()
end

-- acquire, and asking again
if holder == id then return hold() end -- the answer was lost
local ticket = tonumber(ARGV[3])
if ticket == 0 then
  local tail = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')
  ticket = math.max(now, tonumber(tail[2] or 0) + 1)
end
redis.call('ZADD', KEYS[2], 'NX', string.format('%.0f', ticket), id) -- who was passed over comes back to its place
redis.call('HSET', KEYS[3], id, string.format('%.0f', now + grace))

local rank
while true do
  local head = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
  if head == id then rank = 0; break end
  if tonumber(redis.call('HGET', KEYS[3], head) or 0) >= now then rank = redis.call('ZRANK', KEYS[2], id); break end
  drop(head) -- it died, or is late
end
local held = holder and til > now
if rank == 0 and not held and nxt <= now then
  dequeue(id)
  return hold()
end

-- The earliest moment at which the turn can come, if nobody goes away: each one
-- ahead takes at least a gap, and so does the one who has it, unless it dies.
local wait = rank * gap
if not held then
  wait = wait + math.max(nxt - now, 0)
else
  wait = wait + math.min(gap, math.max(til - now, 1000))
end
redis.call('HSET', KEYS[3], id, string.format('%.0f', now + wait + grace))
keep(math.max(wait + grace, lease, last))
return {0, math.ceil(wait), ticket, rank}
