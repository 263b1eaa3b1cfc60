-- SPDX-License-Identifier: MIT
-- fib.lua SECONDS ROUNDS_FILE
local function fib(n)
	if n < 2 then return n end
	return fib(n - 1) + fib(n - 2)
end
local function bif(n)
	if n < 2 then return n end
	return bif(n - 1) + bif(n - 2)
end
local function total(a)
	local sum = 0
	for i = 1, #a do
		sum = sum + a[i] % 7
	end
	return sum
end
local numbers = {}
for i = 0, 19999 do
	numbers[#numbers + 1] = i * 3
end
local limit, rounds, result = tonumber(arg[1]), 0, 0
while rounds == 0 or os.clock() < limit do
	result = fib(20) + fib(20) + fib(20) + bif(20) + total(numbers)
	rounds = rounds + 1
end
print("result " .. result)
local f = assert(io.open(arg[2], "w"))
f:write(rounds, "\n")
f:close()
