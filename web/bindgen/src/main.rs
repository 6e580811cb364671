//! Writes the JavaScript and the declarations beside a WebAssembly module.
//!
//! ```text
//! wgmax-bindgen MODULE.wasm FOLDER NAME
//! ```

use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder, name] = arguments.as_slice() else {
        eprintln!("usage: wgmax-bindgen MODULE.wasm FOLDER NAME");
        return ExitCode::from(2);
    };
    let mut bindgen = Bindgen::new();
    let outcome = bindgen
        .web(true)
        .and_then(|bindgen| bindgen.input_path(module).out_name(name).typescript(true).generate(folder));
    if let Err(error) = outcome {
        eprintln!("wgmax-bindgen: {module}: {error:#}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
