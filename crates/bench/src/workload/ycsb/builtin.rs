//! The six core workloads, as YCSB ships them, with 1 KB records.

use super::{CoreOptions, Mix, Requests, Workload};

impl Workload {
    /// One of the core workloads, by the names `a` or `workloada` to `f` or `workloadf`. They have
    /// a million records and operations each: YCSB's own thousand, meant to be changed, are over
    /// before anything is measured.
    pub fn builtin(name: &str) -> Option<Workload> {
        let letter = name.strip_prefix("workload").unwrap_or(name).to_ascii_lowercase();
        let none = Mix::default();
        let (requests, mix) = match letter.as_str() {
            "a" => (Requests::Zipfian, Mix { read: 0.5, update: 0.5, ..none }),
            "b" => (Requests::Zipfian, Mix { read: 0.95, update: 0.05, ..none }),
            "c" => (Requests::Zipfian, Mix { read: 1.0, ..none }),
            "d" => (Requests::Latest, Mix { read: 0.95, insert: 0.05, ..none }),
            "e" => (Requests::Zipfian, Mix { scan: 0.95, insert: 0.05, ..none }),
            "f" => (Requests::Zipfian, Mix { read: 0.5, read_modify_write: 0.5, ..none }),
            _ => return None,
        };
        let scan_length_max =
            if letter == "e" { 100 } else { CoreOptions::default().scan_length_max };
        let (record_count, operation_count) = (1_000_000, 1_000_000);
        let core = CoreOptions {
            record_count,
            operation_count,
            requests,
            mix,
            scan_length_max,
            ..CoreOptions::default()
        };
        Some(Workload { name: letter, core, ignored: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_six_and_their_proportions_add_up() {
        for name in ["a", "b", "c", "d", "e", "f"] {
            let workload = Workload::builtin(name).unwrap();
            assert_eq!(workload.core.mix.total(), 1.0, "{name}");
            workload.core.check().unwrap();
        }
        assert_eq!(Workload::builtin("workloadA"), Workload::builtin("a"));
        assert_eq!(Workload::builtin("g"), None);
    }
}
