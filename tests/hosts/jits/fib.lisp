;; SPDX-License-Identifier: MIT
;; fib.lisp SECONDS ROUNDS_FILE, for SBCL and ECL
(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(defun bif (n) (if (< n 2) n (+ (bif (- n 1)) (bif (- n 2)))))
(defun main (seconds file)
  (let ((end (+ (get-internal-real-time) (* seconds internal-time-units-per-second))) (rounds 0) (result 0))
    (loop do (setq result (+ (fib 20) (fib 20) (fib 20) (bif 20)))
             (incf rounds)
          while (< (get-internal-real-time) end))
    (format t "result ~a~%" result)
    (with-open-file (f file :direction :output :if-exists :supersede) (format f "~a~%" rounds))))
(let ((words (last #+sbcl sb-ext:*posix-argv* #+ecl (ext:command-args) 2)))
  (main (let ((*read-eval* nil)) (read-from-string (first words))) (second words)))
