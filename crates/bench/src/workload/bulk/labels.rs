//! What a run is, as labels of the report and back.

use std::collections::BTreeMap;

use tonnage::Durability;

use super::DataKind;
use crate::report::Run;

/// In or out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PutOrGet {
    Put,
    Get,
}

/// How records go in and out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallMethod {
    /// A loop on one thread.
    Single,
    /// The loop on several threads.
    Threads,
    /// One bulk call.
    Bulk,
}

impl PutOrGet {
    pub(super) const ALL: [PutOrGet; 2] = [PutOrGet::Put, PutOrGet::Get];

    pub(super) fn name(self) -> &'static str {
        match self {
            PutOrGet::Put => "put",
            PutOrGet::Get => "get",
        }
    }
}

impl CallMethod {
    pub(super) const ALL: [CallMethod; 3] =
        [CallMethod::Single, CallMethod::Threads, CallMethod::Bulk];

    pub(super) fn name(self) -> &'static str {
        match self {
            CallMethod::Single => "single",
            CallMethod::Threads => "single on threads",
            CallMethod::Bulk => "bulk",
        }
    }
}

pub(super) fn durability_name(durability: Durability) -> &'static str {
    match durability {
        Durability::None => "none",
        Durability::Write => "write",
        Durability::Fsync => "fsync",
    }
}

/// What sets a run apart. Nothing for what does not matter to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
            (
                "durability",
                self.durability.map(|durability| durability_name(durability).to_owned()),
            ),
            ("parallelism", self.parallelism.map(|requests| requests.to_string())),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
    }

    /// As a report holds them.
    pub(super) fn to_map(self) -> BTreeMap<String, String> {
        self.parts().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The name of the run: `pairs / put / bulk / fsync`.
    pub(super) fn name(self) -> String {
        let part = |(name, value): (&str, String)| {
            if name == "parallelism" { format!("{value} requests") } else { value }
        };
        self.parts().map(part).collect::<Vec<_>>().join(" / ")
    }

    /// Whether a run is what these labels say.
    pub(super) fn are_of(self, run: &Run) -> bool {
        run.labels == self.to_map()
    }
}
