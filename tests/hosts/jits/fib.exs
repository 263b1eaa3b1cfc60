# SPDX-License-Identifier: MIT
# elixir fib.exs SECONDS ROUNDS_FILE
defmodule Fib do
  def fib(n) when n < 2, do: n
  def fib(n), do: fib(n - 1) + fib(n - 2)
  def bif(n) when n < 2, do: n
  def bif(n), do: bif(n - 1) + bif(n - 2)

  def loop(limit, rounds) do
    result = fib(20) + fib(20) + fib(20) + bif(20)
    if System.monotonic_time(:millisecond) < limit, do: loop(limit, rounds + 1), else: {result, rounds}
  end
end

[seconds, file] = System.argv()
{number, _} = Float.parse(seconds)
{result, rounds} = Fib.loop(System.monotonic_time(:millisecond) + round(1000 * number), 1)
IO.puts("result #{result}")
File.write!(file, "#{rounds}\n")
