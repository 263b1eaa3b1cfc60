# SPDX-License-Identifier: MIT
# fib.raku SECONDS ROUNDS_FILE
sub fib($n) { $n < 2 ?? $n !! fib($n - 1) + fib($n - 2) }
sub bif($n) { $n < 2 ?? $n !! bif($n - 1) + bif($n - 2) }
my ($seconds, $file) = @*ARGS;
my $end = now + $seconds;
my $rounds = 0;
my $result;
repeat {
    $result = fib(14) + fib(14) + fib(14) + bif(14);
    $rounds++;
} while now < $end;
say "result $result";
spurt $file, "$rounds\n";
