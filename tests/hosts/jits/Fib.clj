;; SPDX-License-Identifier: MIT
;; clojure Fib.clj SECONDS ROUNDS_FILE
(defn fib [^long n] (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(defn bif [^long n] (if (< n 2) n (+ (bif (- n 1)) (bif (- n 2)))))
(let [[seconds file] *command-line-args*
      end (+ (System/nanoTime) (* 1e9 (Double/parseDouble seconds)))]
  (loop [rounds 1]
    (let [result (+ (fib 20) (fib 20) (fib 20) (bif 20))]
      (if (< (System/nanoTime) end)
        (recur (inc rounds))
        (do (println "result" result)
            (spit file (str rounds "\n")))))))
