//! Compiles the shim with the C compiler that builds RocksDB (`CC`, set to clang by the project).

use std::env;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=shim");
    println!("cargo::rerun-if-env-changed=CC");
    let compiler = env::var("CC").unwrap_or_else(|_| "clang".to_owned());
    let library = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("shim.so");
    let status = Command::new(&compiler)
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"])
        .arg(&library)
        .args(["shim/shim.c", "-lpthread"])
        .status()
        .unwrap_or_else(|error| panic!("{compiler}: {error}: install clang, or set CC"));
    assert!(status.success(), "{compiler} could not compile shim/shim.c, which needs Linux");
}
