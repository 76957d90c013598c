//! Reloads users and certificates while the server runs.
//!
//! The server looks at their files every five seconds, and reads them when they have changed. So a
//! renewed certificate or a new user needs no restart. A file that cannot be read changes nothing,
//! and the server tries again. It reports the failure once on standard error, counts it as
//! `tonnage_reloads_failed_total`, and answers it to `POST /v1/admin/reload`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tonnage::Result;

use crate::auth::Users;
use crate::config::Config;
use crate::context::ServerContext;
use crate::drain::DrainPhase;
use crate::tls::read_acceptor;

/// When a file was written last, and its length; nothing of one that is not there.
type FileStamp = Option<(SystemTime, u64)>;

/// How often the files are looked at.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);

/// Reads users and certificates again. All of them hold from now on, or none.
///
/// # Errors
/// `Invalid` for files that cannot be used; then everything stays as it was.
pub(crate) fn reload(context: &ServerContext) -> Result<()> {
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

/// The files, as they were before the server read them first.
pub(crate) struct WatchedFiles {
    files: Vec<PathBuf>,
    read: Vec<FileStamp>,
}

impl WatchedFiles {
    /// Looks at the files of a configuration.
    pub(crate) fn of(config: &Config) -> Self {
        let files = files(config);
        let read = stamps(&files);
        Self { files, read }
    }
}

/// Reads the files again whenever they change, until the server drains.
pub(crate) async fn watch(context: Arc<ServerContext>, watched: WatchedFiles) {
    let WatchedFiles { files, mut read } = watched;
    if files.is_empty() {
        return;
    }
    // A file that stays wrong is reported once, not at every check.
    let mut told = None;
    loop {
        tokio::select! {
            () = tokio::time::sleep(LOOK_INTERVAL) => {}
            () = context.phases.wait_for(DrainPhase::Draining) => return,
        }
        // Stamps come before the reading: a change between the two shows at the next look.
        let now = stamps(&files);
        if now == read {
            continue;
        }
        let shared = context.clone();
        match tokio::task::spawn_blocking(move || reload(&shared)).await {
            Ok(Ok(())) => read = now,
            // A file that is being written is whole the next time.
            Ok(Err(error)) if told.as_ref() != Some(&now) => {
                eprintln!(
                    "tonnage: changed files of users or certificates cannot be used: {error}"
                );
                context.metrics.reloads_failed.inc();
                told = Some(now);
            }
            _ => {}
        }
    }
}

fn files(config: &Config) -> Vec<PathBuf> {
    let tls = config.tls.iter().flat_map(|(cert, key)| [cert, key]);
    let clients = config.client_certificates.iter().map(|(file, _)| file);
    config.users.iter().chain(tls).chain(clients).cloned().collect()
}

fn stamps(files: &[PathBuf]) -> Vec<FileStamp> {
    let stamp = |file: &PathBuf| {
        let told = std::fs::metadata(file).ok()?;
        Some((told.modified().ok()?, told.len()))
    };
    files.iter().map(stamp).collect()
}
