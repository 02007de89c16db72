-- The state of one event in KEYS[1]: absent; "r:" .. token while a handler runs, with
-- the lease as the expiry; "h:" .. token after it was handled, with the retention as
-- the expiry. A token begins with the lease of its process in milliseconds.
-- ARGV: op, token, milliseconds. Each op is idempotent, because a client repeats a
-- call whose response was lost.
local op, running, handled = ARGV[1], 'r:' .. ARGV[2], 'h:' .. ARGV[2]
local v = redis.call('GET', KEYS[1])
if op == 'begin' then
  if v and v ~= running then
    local lease = tonumber(string.match(v, '^r:(%d+):'))
    -- If the clock was set back, a crashed process would keep its lease for that time.
    if lease and redis.call('PTTL', KEYS[1]) > lease then redis.call('PEXPIRE', KEYS[1], lease) end
    local states = {['h:'] = 'handled', ['r:'] = 'busy'}
    return states[string.sub(v, 1, 2)] or redis.error_reply('ERR unexpected value of the key')
  end
  redis.call('SET', KEYS[1], running, 'PX', ARGV[3])
  return 'acquired'
elseif op == 'renew' then -- also restores a lease that a restarted server has lost
  if v and v ~= running then return 'lost' end
  redis.call('SET', KEYS[1], running, 'PX', ARGV[3])
  return 'acquired'
elseif op == 'free' then
  if v == running then redis.call('DEL', KEYS[1]) end
  return 'free'
end
-- The event was handled, even if another caller has the lease now.
redis.call('SET', KEYS[1], handled, 'PX', ARGV[3])
return (v and v ~= running and v ~= handled) and 'lost' or 'handled'
