//! The machine and the program in words.

use super::format;
use crate::measure::{Disk, Environment};

/// What stays the same from run to run on one machine.
pub(super) fn of(environment: &Environment) -> Vec<(String, String)> {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let mut facts = vec![
        fact("processor", environment.cpu.clone()),
        fact("cores", environment.cores.to_string()),
        fact("memory", format::bytes(environment.memory_bytes as f64)),
        fact("system", environment.system.clone()),
        fact("kernel", environment.kernel.clone()),
        fact("version", environment.version.clone()),
    ];
    facts.extend(
        environment.disks.iter().map(|disk| (format!("disk {}", disk.label), disk_text(disk))),
    );
    facts
}

fn disk_text(disk: &Disk) -> String {
    format!(
        "{} on {}, {}, {}",
        disk.file_system,
        disk.device,
        disk.kind,
        format::bytes(disk.size_bytes as f64)
    )
}
