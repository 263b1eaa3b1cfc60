%% SPDX-License-Identifier: MIT
%% erl -noshell -s fib main SECONDS ROUNDS_FILE
-module(fib).
-export([main/1]).

fib(N) when N < 2 -> N;
fib(N) -> fib(N - 1) + fib(N - 2).

bif(N) when N < 2 -> N;
bif(N) -> bif(N - 1) + bif(N - 2).

total([], Sum) -> Sum;
total([V | Rest], Sum) -> total(Rest, Sum + V rem 7).

loop(End, Numbers, Rounds) ->
    Result = fib(20) + fib(20) + fib(20) + bif(20) + total(Numbers, 0),
    case erlang:monotonic_time(millisecond) < End of
        true -> loop(End, Numbers, Rounds + 1);
        false -> {Result, Rounds}
    end.

seconds(Text) ->
    try list_to_float(Text) catch error:badarg -> list_to_integer(Text) end.

main([Seconds, File]) ->
    Numbers = [I * 3 || I <- lists:seq(0, 19999)],
    End = erlang:monotonic_time(millisecond) + round(1000 * seconds(atom_to_list(Seconds))),
    {Result, Rounds} = loop(End, Numbers, 0),
    io:format("result ~p~n", [Result]),
    ok = file:write_file(atom_to_list(File), io_lib:format("~p~n", [Rounds])),
    halt(0).
