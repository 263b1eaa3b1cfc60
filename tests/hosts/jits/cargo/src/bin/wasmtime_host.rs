// SPDX-License-Identifier: MIT
//! wasmtime_host [--perfmap] SECONDS ROUNDS_FILE: fib() three times as often as bif(), as WebAssembly.
use std::time::{Duration, Instant};
use wasmtime::{Config, Engine, Instance, Module, ProfilingStrategy, Store};

fn text(name: &str) -> String {
    format!(
        "(func ${name} (export \"{name}\") (param i32) (result i32)
           (if (result i32) (i32.lt_s (local.get 0) (i32.const 2)) (then (local.get 0))
             (else (i32.add (call ${name} (i32.sub (local.get 0) (i32.const 1)))
                            (call ${name} (i32.sub (local.get 0) (i32.const 2)))))))"
    )
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let mut config = Config::new();
    if arguments.iter().any(|a| a == "--perfmap") {
        config.profiler(ProfilingStrategy::PerfMap);
    }
    let engine = Engine::new(&config).unwrap();
    let module = Module::new(&engine, format!("(module {} {})", text("fib"), text("bif"))).unwrap();
    let mut store = Store::new(&engine, ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    let fib = instance.get_typed_func::<i32, i32>(&mut store, "fib").unwrap();
    let bif = instance.get_typed_func::<i32, i32>(&mut store, "bif").unwrap();
    let seconds: f64 = arguments[arguments.len() - 2].parse().unwrap();
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let (mut rounds, mut result) = (0, 0);
    while rounds == 0 || Instant::now() < end {
        result = 0;
        for i in 0..20 {
            result += if i < 15 { fib.call(&mut store, 20) } else { bif.call(&mut store, 20) }.unwrap();
        }
        rounds += 1;
    }
    println!("result {result}");
    std::fs::write(&arguments[arguments.len() - 1], format!("{rounds}\n")).unwrap();
}
