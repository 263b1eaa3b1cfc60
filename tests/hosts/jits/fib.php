<?php
// SPDX-License-Identifier: MIT
// fib.php SECONDS ROUNDS_FILE
function fib($n)
{
	return $n < 2 ? $n : fib($n - 1) + fib($n - 2);
}
function bif($n)
{
	return $n < 2 ? $n : bif($n - 1) + bif($n - 2);
}
function total($a)
{
	$sum = 0;
	foreach ($a as $v)
		$sum += $v % 7;
	return $sum;
}
$numbers = [];
for ($i = 0; $i < 20000; $i++)
	$numbers[] = $i * 3;
$end = microtime(true) + (float)$argv[1];
$rounds = 0;
while ($rounds == 0 || microtime(true) < $end) {
	$result = fib(20) + fib(20) + fib(20) + bif(20) + total($numbers);
	$rounds++;
}
echo "result $result\n";
file_put_contents($argv[2], "$rounds\n");
