(* SPDX-License-Identifier: MIT *)
(* Poly/ML and Standard ML of New Jersey; SECONDS and ROUNDS_FILE are in the environment. *)
fun fib n = if n < 2 then n else fib (n - 1) + fib (n - 2);
fun bif n = if n < 2 then n else bif (n - 1) + bif (n - 2);
fun word name = valOf (OS.Process.getEnv name);
fun loop (until, rounds) =
  let val result = fib 22 + fib 22 + fib 22 + bif 22
  in if Time.< (Time.now (), until) then loop (until, rounds + 1) else (result, rounds) end;
fun main () =
  let
    val seconds = valOf (Real.fromString (word "SECONDS"))
    val (result, rounds) = loop (Time.+ (Time.now (), Time.fromReal seconds), 1)
    val f = TextIO.openOut (word "ROUNDS_FILE")
  in
    print ("result " ^ Int.toString result ^ "\n");
    TextIO.output (f, Int.toString rounds ^ "\n");
    TextIO.closeOut f;
    OS.Process.exit OS.Process.success
  end;
val () = main ();
