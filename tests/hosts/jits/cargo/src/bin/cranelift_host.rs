// SPDX-License-Identifier: MIT
//! cranelift_host SECONDS ROUNDS_FILE: fib() three times as often as bif(), compiled by cranelift-jit.
use cranelift_codegen::ir::{condcodes::IntCC, types::I64, AbiParam, InstBuilder};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{default_libcall_names, FuncId, Linkage, Module};
use std::time::{Duration, Instant};

fn compile(module: &mut JITModule, name: &str) -> FuncId {
    let mut context = module.make_context();
    let mut builder_context = FunctionBuilderContext::new();

    context.func.signature.params.push(AbiParam::new(I64));
    context.func.signature.returns.push(AbiParam::new(I64));
    let id = module.declare_function(name, Linkage::Export, &context.func.signature).unwrap();
    let itself = module.declare_func_in_func(id, &mut context.func);
    let mut b = FunctionBuilder::new(&mut context.func, &mut builder_context);
    let (entry, small, large) = (b.create_block(), b.create_block(), b.create_block());
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let n = b.block_params(entry)[0];
    let two = b.ins().iconst(I64, 2);
    let is_small = b.ins().icmp(IntCC::SignedLessThan, n, two);
    b.ins().brif(is_small, small, &[], large, &[]);
    b.switch_to_block(small);
    b.ins().return_(&[n]);
    b.switch_to_block(large);
    let one = b.ins().iconst(I64, 1);
    let mut sums = Vec::new();
    for less in [one, two] {
        let argument = b.ins().isub(n, less);
        let call = b.ins().call(itself, &[argument]);
        sums.push(b.inst_results(call)[0]);
    }
    let sum = b.ins().iadd(sums[0], sums[1]);
    b.ins().return_(&[sum]);
    b.seal_all_blocks();
    b.finalize(module.target_config());
    module.define_function(id, &mut context).unwrap();
    id
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let mut module = JITModule::new(JITBuilder::new(default_libcall_names()).unwrap());
    let ids = [compile(&mut module, "fib"), compile(&mut module, "bif")];
    module.finalize_definitions().unwrap();
    let [fib, bif] = ids.map(|id| unsafe {
        std::mem::transmute::<*const u8, extern "C" fn(i64) -> i64>(module.get_finalized_function(id))
    });
    let end = Instant::now() + Duration::from_secs_f64(arguments[1].parse().unwrap());
    let (mut rounds, mut result) = (0, 0);
    while rounds == 0 || Instant::now() < end {
        result = (0..20).map(|i| if i < 15 { fib(20) } else { bif(20) }).sum();
        rounds += 1;
    }
    println!("result {result}");
    std::fs::write(&arguments[2], format!("{rounds}\n")).unwrap();
}
