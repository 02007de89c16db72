-- One event. KEYS[1]: absent; "r:" .. token while it runs, for a lease; "h:" ..
-- token when it was handled, for as long as it is remembered.
-- ARGV: op, token, milliseconds. Each op may come twice: a call is repeated when
-- its answer was lost.
local op, running, handled = ARGV[1], 'r:' .. ARGV[2], 'h:' .. ARGV[2]
local v = redis.call('GET', KEYS[1])
if op == 'begin' then
  if v and v ~= running then return string.sub(v, 1, 1) == 'h' and 'handled' or 'busy' end
  redis.call('SET', KEYS[1], running, 'PX', ARGV[3])
  return 'mine'
elseif op == 'renew' then -- also what a server that was restarted has forgotten
  if v and v ~= running then return 'lost' end
  redis.call('SET', KEYS[1], running, 'PX', ARGV[3])
  return 'mine'
elseif op == 'free' then
  if v == running then redis.call('DEL', KEYS[1]) end
  return 'free'
end
-- It was handled, and is remembered, whoever has it by now.
redis.call('SET', KEYS[1], handled, 'PX', ARGV[3])
return (v and v ~= running and v ~= handled) and 'lost' or 'handled'
