//! Users and certificates, read again while the server runs.
//!
//! Their files are looked at every few seconds, and read when they have changed: whoever renews a
//! certificate or adds a user need do no more. What cannot be read changes nothing, and is tried
//! again; `POST /v1/admin/reload` tells what is wrong with it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tonnage::Result;

use crate::auth::Users;
use crate::config::Config;
use crate::context::Context;
use crate::drain::Phase;
use crate::tls::read_acceptor;

/// How often the files are looked at.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);

/// Reads users and certificates again. All of them hold from now on, or none.
///
/// # Errors
/// `Invalid` for files that cannot be used; then everything stays as it was.
pub(crate) fn reload(context: &Context) -> Result<()> {
    let users = context.config.users.as_deref().map(Users::read).transpose()?;
    let tls = read_acceptor(&context.config)?;
    if let Some(users) = users {
        context.logins.replace(users);
    }
    if let (Some(slot), Some(acceptor)) = (&context.tls, tls) {
        slot.replace(acceptor);
    }
    Ok(())
}

/// Reads the files again whenever they change, until the server drains.
pub(crate) async fn watch(context: Arc<Context>) {
    let files = files(&context.config);
    if files.is_empty() {
        return;
    }
    let mut read = stamps(&files);
    loop {
        tokio::select! {
            () = tokio::time::sleep(LOOK_INTERVAL) => {}
            () = context.phases.reached(Phase::Draining) => return,
        }
        let now = stamps(&files);
        if now == read {
            continue;
        }
        let shared = context.clone();
        if let Ok(Ok(())) = tokio::task::spawn_blocking(move || reload(&shared)).await {
            read = now;
        }
    }
}

fn files(config: &Config) -> Vec<PathBuf> {
    let tls = config.tls.iter().flat_map(|(cert, key)| [cert, key]);
    let clients = config.client_certificates.iter().map(|(file, _)| file);
    config.users.iter().chain(tls).chain(clients).cloned().collect()
}

/// When each file was written last, and its length.
fn stamps(files: &[PathBuf]) -> Vec<Option<(SystemTime, u64)>> {
    let stamp = |file: &PathBuf| {
        let told = std::fs::metadata(file).ok()?;
        Some((told.modified().ok()?, told.len()))
    };
    files.iter().map(stamp).collect()
}
