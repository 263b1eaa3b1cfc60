;; SPDX-License-Identifier: MIT
;; fib.scm SECONDS ROUNDS_FILE
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(define (bif n) (if (< n 2) n (+ (bif (- n 1)) (bif (- n 2)))))
(define (total v)
  (let loop ((i 0) (sum 0))
    (if (= i (vector-length v)) sum (loop (+ i 1) (+ sum (remainder (vector-ref v i) 7))))))
(define numbers (make-vector 20000 3))
(define (now) (/ (get-internal-real-time) internal-time-units-per-second))
(define end (+ (now) (string->number (cadr (command-line)))))
(define (run rounds result)
  (if (or (= rounds 0) (< (now) end))
      (run (+ rounds 1) (+ (fib 20) (fib 20) (fib 20) (bif 20) (total numbers)))
      (begin
        (display "result ") (display result) (newline)
        (call-with-output-file (caddr (command-line)) (lambda (p) (display rounds p) (newline p))))))
(run 0 0)
