# SPDX-License-Identifier: MIT
# fib.rb SECONDS ROUNDS_FILE
def fib(n)
  n < 2 ? n : fib(n - 1) + fib(n - 2)
end

def bif(n)
  n < 2 ? n : bif(n - 1) + bif(n - 2)
end

def total(a)
  sum = 0
  i = 0
  while i < a.size
    sum += a[i] % 7
    i += 1
  end
  sum
end

numbers = (0...20000).map { |i| i * 3 }
finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + ARGV[0].to_f
rounds = result = 0
while rounds == 0 || Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
  result = fib(20) + fib(20) + fib(20) + bif(20) + total(numbers)
  rounds += 1
end
puts "result #{result}"
File.write(ARGV[1], "#{rounds}\n")
