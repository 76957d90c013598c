//! A library that says what a process syncs, and lets chosen syncs fail.

use std::path::{Path, PathBuf};
use std::process::Command;

/// `syncs.c` as a library to preload; nothing where there is no compiler.
pub(crate) fn syncs_shim(place: &Path) -> Option<PathBuf> {
    let source = Path::new("tests/process/syncs.c");
    let library = place.join("syncs.so");
    let compiled = ["clang", "cc", "gcc"].iter().any(|compiler| {
        let built = Command::new(compiler)
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(&library)
            .arg(source)
            .output();
        built.is_ok_and(|built| built.status.success())
    });
    if !compiled {
        println!("passed over, there is no C compiler here");
    }
    compiled.then_some(library)
}
