select sum(case when (a * 7 + b) % 11 > 4 and a % 3 <> 1 then a % 17 + b / 5 else a - b end) from generate_series(1, 4000) a, generate_series(1, 1500) b where (a * 13 + b) % 29 < 27;
