//! What a run is, as labels of the report.

use std::collections::BTreeMap;

use tonnage::Durability;

use super::DataKind;
use crate::choice::choice;
use crate::report::named;
use crate::workload::options::lower;

choice! {
    pub(super) enum PutOrGet {
        Put = "put",
        Get = "get",
    }
}

choice! {
    /// How records go in and out.
    pub(super) enum CallMethod {
        /// A loop on one thread.
        Single = "single",
        /// The loop on several threads.
        Threads = "single on threads",
        /// One bulk call.
        Bulk = "bulk",
    }
}

/// What sets a run apart. Nothing for what does not matter to it.
#[derive(Clone, Copy)]
pub(super) struct Labels {
    pub(super) data: DataKind,
    pub(super) phase: PutOrGet,
    pub(super) method: CallMethod,
    pub(super) durability: Option<Durability>,
    /// Requests in flight, in the sweep.
    pub(super) parallelism: Option<usize>,
}

impl Labels {
    fn parts(self) -> impl Iterator<Item = (&'static str, String)> {
        [
            ("data", Some(self.data.name().to_owned())),
            ("phase", Some(self.phase.name().to_owned())),
            ("method", Some(self.method.name().to_owned())),
            ("durability", self.durability.as_ref().map(lower)),
            ("parallelism", self.parallelism.map(|requests| requests.to_string())),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
    }

    pub(super) fn to_map(self) -> BTreeMap<String, String> {
        named(self.parts())
    }

    /// The name of the run: `pairs / put / bulk / fsync`.
    pub(super) fn name(self) -> String {
        let part = |(name, value): (&str, String)| {
            if name == "parallelism" { format!("{value} requests") } else { value }
        };
        self.parts().map(part).collect::<Vec<_>>().join(" / ")
    }
}
