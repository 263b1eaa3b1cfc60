;; SPDX-License-Identifier: MIT
;; chezscheme --script fib.ss SECONDS ROUNDS_FILE
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(define (bif n) (if (< n 2) n (+ (bif (- n 1)) (bif (- n 2)))))
(define words (command-line-arguments))
(define end (+ (real-time) (* 1000 (string->number (car words)))))
(let loop ((rounds 1))
  (let ((result (+ (fib 20) (fib 20) (fib 20) (bif 20))))
    (if (< (real-time) end)
        (loop (+ rounds 1))
        (begin
          (printf "result ~a\n" result)
          (with-output-to-file (cadr words) (lambda () (printf "~a\n" rounds)) 'truncate)))))
