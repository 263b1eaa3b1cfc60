\ SPDX-License-Identifier: MIT
\ Gforth: gforth-fast fib.fs SECONDS ROUNDS_FILE
: fib ( n -- f ) dup 2 < if exit then dup 1- recurse swap 2 - recurse + ;
: bif ( n -- f ) dup 2 < if exit then dup 1- recurse swap 2 - recurse + ;
: milliseconds ( c-addr u -- n ) >float 0= if 1e0 then 1e3 f* f>s ;
: now ( -- n ) utime 1000 um/mod nip ;
variable rounds
: work ( -- n ) 20 fib 20 fib + 20 fib + 20 bif + 1 rounds +! ;
: main ( -- ) next-arg milliseconds now + begin work over now > while drop repeat nip ." result " . cr
  next-arg w/o create-file throw >r rounds @ s>d <# #s #> r@ write-line throw r> close-file throw bye ;
main
