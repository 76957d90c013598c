//! An engine that notes at which levels it is asked to write and read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tonnage::{Clock, Result};
use tonnage_engine::sync::lock;
use tonnage_engine::{Engine, Levels};

use crate::stepped::{EngineStep, SteppedEngine};

/// What was asked of an engine, and at which levels.
pub(crate) type Notes = Vec<(&'static str, Levels)>;

/// The notes of each URL.
static NOTED: Mutex<Option<HashMap<String, Notes>>> = Mutex::new(None);

/// Opens a store that notes what it is asked. It has copies on a cluster, as far as it says.
pub(crate) fn open(url: &str, _create: bool, _clock: Arc<dyn Clock>) -> Result<Arc<dyn Engine>> {
    let url = url.to_owned();
    Ok(SteppedEngine::with_levels(move |step, levels| {
        let what = match step {
            EngineStep::Read(_) | EngineStep::Settle => "read",
            EngineStep::Scan(_) => "scan",
            EngineStep::Write(_) => "write",
            EngineStep::Load => "load",
            EngineStep::Scanned(_)
            | EngineStep::Sync
            | EngineStep::Drop(_)
            | EngineStep::List
            | EngineStep::Listed => return Ok(()),
        };
        let mut noted = lock(&NOTED);
        noted.get_or_insert_default().entry(url.clone()).or_default().push((what, levels));
        Ok(())
    }))
}

/// What a call asks of the engine that is not on its own levels, and at which; once what it asks
/// several times in a row.
pub(crate) fn noted(url: &str, call: impl FnOnce()) -> Notes {
    let take = || {
        let mut noted = lock(&NOTED);
        noted.get_or_insert_default().remove(url).unwrap_or_default()
    };
    take();
    call();
    let mut noted = take();
    noted.retain(|(_, levels)| *levels != Levels::default());
    noted.dedup();
    noted
}
