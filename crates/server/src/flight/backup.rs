//! Backups into directories of the server, by administrators.
//!
//! The setting `backups` names the base directory. A caller names a path of plain names below it,
//! so no backup is written anywhere else.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tonnage::{BackupOptions, BackupRepository, Error, Result};

use super::check::damages_json;
use super::command::parse;
use crate::auth::Caller;
use crate::context::ServerContext;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MakeBackup {
    directory: String,
    /// Copies data files even where they could be linked.
    #[serde(default)]
    copy: bool,
    #[serde(default)]
    timeout_ms: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListBackups {
    directory: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct VerifyBackups {
    directory: String,
    /// The number of one backup; all without it.
    #[serde(default)]
    backup: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PruneBackups {
    directory: String,
    /// How many of the latest stay.
    keep: usize,
}

type ActionBodies = Vec<Vec<u8>>;

/// Backs the store up.
pub(crate) async fn make(
    context: &Arc<ServerContext>,
    caller: &Caller,
    body: &[u8],
) -> Result<ActionBodies> {
    caller.check_admin("back up")?;
    let command: MakeBackup = parse("the action's body", body)?;
    let work = context.cancellable(move |context, cancel| {
        let root = root(context, &command.directory)?;
        let options = BackupOptions {
            copy_always: command.copy,
            cancel: cancel.clone(),
            timeout: command.timeout_ms.map(Duration::from_millis),
        };
        let report = context.store.backup(&BackupRepository::open_or_create(&root)?, &options)?;
        json_answer(&report)
    });
    work.await
}

/// Lists the backups of a directory.
pub(super) async fn list(
    context: &Arc<ServerContext>,
    caller: &Caller,
    body: &[u8],
) -> Result<ActionBodies> {
    caller.check_admin("list backups of")?;
    let command: ListBackups = parse("the action's body", body)?;
    let work = context.blocking(move |context| {
        json_answer(&BackupRepository::open(&root(context, &command.directory)?)?.list()?)
    });
    work.await
}

/// Reads all files of backups, and compares their checksums.
pub(super) async fn verify(
    context: &Arc<ServerContext>,
    caller: &Caller,
    body: &[u8],
) -> Result<ActionBodies> {
    caller.check_admin("verify backups of")?;
    let command: VerifyBackups = parse("the action's body", body)?;
    let work = context.cancellable(move |context, cancel| {
        let backups = BackupRepository::open(&root(context, &command.directory)?)?;
        let report = backups.verify(command.backup, cancel)?;
        json_answer(&json!({
            "backups": report.backups,
            "files": report.files,
            "bytes": report.bytes,
            "damages": damages_json(&report.damages),
        }))
    });
    work.await
}

/// Removes all backups but the latest.
pub(super) async fn prune(
    context: &Arc<ServerContext>,
    caller: &Caller,
    body: &[u8],
) -> Result<ActionBodies> {
    caller.check_admin("remove backups of")?;
    let command: PruneBackups = parse("the action's body", body)?;
    let work = context.blocking(move |context| {
        json_answer(
            &BackupRepository::open(&root(context, &command.directory)?)?.prune(command.keep)?,
        )
    });
    work.await
}

fn json_answer(told: &impl Serialize) -> Result<ActionBodies> {
    let told = serde_json::to_vec(told);
    told.map(|told| vec![told])
        .map_err(|error| Error::internal(format!("an answer cannot be told: {error}")))
}

/// The directory of the server that a caller names.
///
/// # Errors
/// `Invalid` where the server has no directory for backups, and for a path that leads out of it.
fn root(context: &ServerContext, directory: &str) -> Result<PathBuf> {
    let Some(base) = &context.config.backups else {
        return Err(Error::invalid(
            "this server has no directory for backups: start it with --backups DIR",
        ));
    };
    path_below(base, directory)
}

fn path_below(base: &Path, directory: &str) -> Result<PathBuf> {
    let mut names = Path::new(directory).components();
    let is_plain = names.clone().all(|name| matches!(name, Component::Normal(_)));
    match is_plain && names.next().is_some() {
        true => Ok(base.join(directory)),
        false => Err(Error::invalid(format!(
            "`{directory}`: name a directory below that of the server's backups, such as nightly: \
             not the root, nor `.` or `..`"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_below_the_directory_of_backups_and_nowhere_else() {
        let base = Path::new("/backups");
        assert_eq!(path_below(base, "a/b").unwrap(), Path::new("/backups/a/b"));
        for wrong in ["", "/", "/etc", "..", "a/../../b", ".", "../backups"] {
            let error = path_below(base, wrong).unwrap_err();
            assert!(error.message().contains("below"), "{wrong}: {error}");
        }
    }
}
