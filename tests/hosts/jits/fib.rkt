#lang racket/base
;; SPDX-License-Identifier: MIT
;; fib.rkt SECONDS ROUNDS_FILE
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(define (bif n) (if (< n 2) n (+ (bif (- n 1)) (bif (- n 2)))))
(define words (current-command-line-arguments))
(define end (+ (current-inexact-milliseconds) (* 1000 (string->number (vector-ref words 0)))))
(let loop ([rounds 1])
  (define result (+ (fib 20) (fib 20) (fib 20) (bif 20)))
  (if (< (current-inexact-milliseconds) end)
      (loop (+ rounds 1))
      (begin
        (printf "result ~a\n" result)
        (with-output-to-file (vector-ref words 1) #:exists 'truncate (lambda () (printf "~a\n" rounds))))))
